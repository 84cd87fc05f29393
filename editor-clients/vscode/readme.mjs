// The README that is packed: VS Code shows no picture of an extension's own folder in it.
import { readFileSync, writeFileSync } from 'node:fs';

const text = readFileSync('README.md', 'utf8');
const packed = text.replaceAll(
  /(?<=!\[[^\]]*\]\()media\/[^)]+\.png(?=\))/g,
  (path) => `data:image/png;base64,${readFileSync(path, 'base64')}`,
);
writeFileSync('dist/README.md', packed);
