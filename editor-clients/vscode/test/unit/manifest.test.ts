import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { SIDECAR_SETTINGS, USER_ONLY } from '../../src/settings.ts';

interface Property {
  scope?: string;
  description?: string;
  markdownDescription?: string;
}

interface Manifest {
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: {
    commands: { command: string }[];
    configuration: { properties: Record<string, Property> }[];
    menus: Record<string, { command?: string }[]>;
    keybindings: { command: string }[];
    walkthroughs: { steps: { description: string; media: { markdown: string } }[] }[];
  };
}

const folder = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const { contributes } = manifest;
const properties = new Map(
  contributes.configuration.flatMap((group) => Object.entries(group.properties)),
);

test('every setting of the sidecar can be set here, and is described', () => {
  for (const name of [...SIDECAR_SETTINGS, ...USER_ONLY]) {
    const property = properties.get(`acp.${name}`);
    assert.ok(property?.markdownDescription ?? property?.description, name);
  }
});

test('what chooses a command to run cannot be set by a workspace', () => {
  for (const name of [...USER_ONLY, 'pythonPath']) {
    assert.equal(properties.get(`acp.${name}`)?.scope, 'machine', name);
  }
});

test('what an untrusted workspace cannot set are settings', () => {
  for (const name of manifest.capabilities.untrustedWorkspaces.restrictedConfigurations) {
    assert.ok(properties.has(name), name);
  }
});

test('menus, keys and the walkthrough call only commands that there are', () => {
  const known = new Set(contributes.commands.map(({ command }) => command));
  const called = [
    ...Object.values(contributes.menus).flatMap((items) => items.map((it) => it.command ?? '')),
    ...contributes.keybindings.map((it) => it.command),
    ...contributes.walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ description }) =>
        [...description.matchAll(/\(command:([\w.]+)/g)].map((found) => found[1] ?? ''),
      ),
    ),
  ];
  // Those of a view are made by VS Code.
  const ours = called.filter((name) => name.startsWith('acp.') && !name.endsWith('.focus'));
  assert.ok(ours.length > 10);
  assert.deepEqual(
    ours.filter((name) => !known.has(name)),
    [],
  );
});

test('every page of the walkthrough is there', () => {
  for (const { media } of contributes.walkthroughs.flatMap(({ steps }) => steps)) {
    assert.ok(readFileSync(join(folder, media.markdown), 'utf8').startsWith('## '));
  }
});
