// The licences of everything that is bundled, as they ask to be passed on.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes a file with the licence of each npm package that is in a bundle.
 *
 * @param {import('esbuild').Metafile[]} metafiles what is in the bundles
 * @param {string} path the file
 * @throws {Error} a package has no licence text
 */
export function writeNotices(metafiles, path) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(
    inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  const notices = [...folders].map(notice).sort((one, other) => one.localeCompare(other));
  const heading =
    'This extension holds parts of other programs, each under its own licence.\n' +
    'Its own licence stands in the file LICENSE.\n';
  writeFileSync(path, [heading, ...new Set(notices)].join(`\n${'-'.repeat(79)}\n\n`));
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json')));
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length === 0) {
    throw new Error(`${name} has no licence text.`);
  }
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
