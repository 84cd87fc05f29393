import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Configuration, configuration, userSettings } from '../../src/settings.ts';

function acp(set: Record<string, object>): Configuration {
  const inspect = (name: string) => ({ key: name, ...set[name] });
  return { inspect } as Configuration;
}

test('a default is not told, so that it does not win over the config.toml', () => {
  const settings = acp({ 'follow.enabled': { defaultValue: true } });
  assert.deepEqual(configuration(settings), {});
});

test('what a workspace has set is told, the nearest first', () => {
  const settings = acp({
    'follow.enabled': { globalValue: true, workspaceValue: false },
    'review.mode': { globalValue: 'before' },
  });
  assert.deepEqual(configuration(settings), {
    follow: { enabled: false },
    review: { mode: 'before' },
  });
});

test('a workspace never chooses a command to run', () => {
  const evil = { mine: { command: './evil.sh' } };
  const settings = acp({ agents: { workspaceValue: evil, workspaceFolderValue: evil } });
  assert.deepEqual(configuration(settings), {});
  assert.deepEqual(userSettings(settings), {});
});

test('the agents of the user come with initializationOptions', () => {
  const mine = { mine: { command: '/opt/mine/agent' } };
  const settings = acp({ agents: { globalValue: mine, workspaceValue: {} } });
  assert.deepEqual(userSettings(settings), { agents: mine });
});
