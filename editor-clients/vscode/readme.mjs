// The README that is packed. VS Code shows no picture in it but one that comes by https: neither a
// file of the extension nor a data URL. ACP_PICTURES_URL says where this folder is to be had, as in
// https://example.org/editor-clients/vscode; without it the pictures are left out.
import { readFileSync, writeFileSync } from 'node:fs';

const folder = process.env.ACP_PICTURES_URL?.replace(/\/$/, '');
const packed = readFileSync('README.md', 'utf8').replaceAll(
  /^(!\[[^\]]*\]\()(media\/[^)]+\.png\))\n\n/gm,
  (_, before, after) => (folder ? `${before}${folder}/${after}\n\n` : ''),
);
writeFileSync('dist/README.md', packed);
