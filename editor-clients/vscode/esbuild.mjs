// Bundles the extension (Node) and the chat (browser) into dist/.
import { argv } from 'node:process';

import { context } from 'esbuild';

import { writeNotices } from './notices.mjs';

const production = argv.includes('--production');
const common = {
  bundle: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  logLevel: 'warning',
  // They stand in a file of their own.
  legalComments: 'none',
  metafile: true,
};
const builds = await Promise.all([
  context({
    ...common,
    entryPoints: { extension: 'src/extension.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['vscode'],
  }),
  context({
    ...common,
    entryPoints: { chat: 'webview/main.ts', style: 'webview/style.css' },
    outdir: 'dist',
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    loader: { '.ttf': 'file' },
  }),
]);
if (argv.includes('--watch')) {
  await Promise.all(builds.map((build) => build.watch()));
} else {
  const results = await Promise.all(builds.map((build) => build.rebuild()));
  writeNotices(
    results.map(({ metafile }) => metafile),
    'dist/THIRD-PARTY-NOTICES.txt',
  );
  await Promise.all(builds.map((build) => build.dispose()));
}
