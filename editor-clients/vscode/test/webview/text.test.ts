import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Chats, message, SESSION, toolCall } from './harness.ts';

let chats: Chats;
before(async () => {
  chats = await Chats.start();
});
after(() => chats.close());

const ATTACKS = [
  '<img src="http://evil.test/a.png" onerror="window.hacked = 1">',
  '<script>window.hacked = 2</script>',
  '<svg onload="window.hacked = 3"><iframe src="http://evil.test/frame"></iframe></svg>',
  '[click](javascript:window.hacked=4)',
  '[click](JaVaScRiPt:window.hacked=5) [x](data:text/html,<script>window.hacked=6</script>)',
  '[run](command:workbench.action.terminal.new) [v](vbscript:x)',
  '![picture](http://evil.test/b.png) ![svg](data:image/svg+xml;base64,PHN2Zz4=)',
  '![x](http://evil.test/c.png "onerror=window.hacked=7")',
  '[a]: javascript:window.hacked=8\n\n[a]',
  '```"><img src=x onerror=window.hacked=9>\ncode\n```',
  '`<img src=http://evil.test/d.png onerror=window.hacked=10>`',
  '<style>body { display: none }</style><link rel=stylesheet href=http://evil.test/e.css>',
];

test('text of an agent never becomes HTML, loads nothing and runs nothing', async () => {
  const chat = await chats.open();
  const every = ATTACKS.map((text, index) => message(`m${index}`, text));
  const call = toolCall('t', ATTACKS.join(' '), {
    status: 'failed',
    content: ATTACKS.map((text) => ({ type: 'content', content: { type: 'text', text } })),
    locations: [{ path: '/ws/<img src=x onerror=window.hacked=11>', line: null }],
    command: ATTACKS[0] ?? null,
    rawInput: { command: ATTACKS[0] },
  });
  const picture = message('p', '', 'agent', {
    content: [
      { type: 'image', data: 'PHN2Zz4=', mimeType: 'image/svg+xml' },
      { type: 'image', data: 'x" onerror="window.hacked=12', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'javascript:window.hacked=13', name: '<b>name</b>' },
    ],
  });
  await chat.blocks([...every, call, picture]);
  for (const link of await chat.page.locator('.transcript a').all()) {
    await link.click();
  }
  const found = await chat.page.evaluate(() => ({
    hacked: (window as { hacked?: unknown }).hacked ?? null,
    elements: [
      ...document.querySelectorAll('.transcript :is(img, script, svg, iframe, style, link, b)'),
    ].map((it) => it.outerHTML),
    attributes: [...document.querySelectorAll('.transcript *')].flatMap((it) =>
      it.getAttributeNames().filter((name) => name.startsWith('on')),
    ),
    targets: [...document.querySelectorAll('.transcript a[href]')].map((it) =>
      it.getAttribute('href'),
    ),
  }));
  assert.equal(found.hacked, null);
  assert.deepEqual(found.elements, []);
  assert.deepEqual(found.attributes, []);
  assert.deepEqual(
    found.targets.filter((it) => it !== '#' && !it?.startsWith('http://evil.test/')),
    [],
  );
  const opened = (await chat.sent('openLink')).map((it) => it.href);
  assert.deepEqual(
    opened.filter((it) => !it.startsWith('http://evil.test/')),
    [],
  );
  assert.equal(chat.page.url(), 'http://chat.test/');
  chat.assertQuiet();
  await chat.page.close();
});

test('links and paths lead where they say, by way of the extension', async () => {
  const chat = await chats.open();
  await chat.blocks([
    message(
      'm',
      'See [docs](https://example.org/x?a=1), `src/a.py:12`, [b](lib/b%20c.ts#L7), ' +
        '[f](file:///ws/d.py#L3), <https://example.org/y> and `os.path`.',
    ),
  ]);
  for (const link of await chat.page.locator('article a').all()) {
    await link.click();
  }
  assert.deepEqual(
    (await chat.sent('openLink')).map((it) => it.href),
    ['https://example.org/x?a=1', 'https://example.org/y'],
  );
  assert.deepEqual(
    (await chat.sent('openPath')).map((it) => [it.path, it.line]),
    [
      ['src/a.py', 12],
      ['lib/b c.ts', 7],
      ['/ws/d.py', 3],
    ],
  );
  chat.assertQuiet();
  await chat.page.close();
});

test('while a message grows, only its end is drawn again', async () => {
  const chat = await chats.open();
  const parts = [
    '# Title\n\n',
    'One **bold** word.\n\n',
    '```py\nx = 1\n\ny',
    ' = 2\n',
    '```\n\nThe',
    ' end.',
  ];
  let text = '';
  for (const part of parts) {
    text += part;
    await chat.blocks([message('m', text)]);
    await chat.page.evaluate(() => {
      document.querySelectorAll('.piece').forEach((it) => {
        const drawn = it as HTMLElement;
        drawn.dataset.times ??= String(performance.now());
      });
    });
  }
  const pieces = chat.page.locator('.piece');
  assert.deepEqual(await pieces.allInnerTexts(), [
    'Title',
    'One bold word.',
    'py\nx = 1\n\ny = 2',
    'The end.',
  ]);
  const times = await pieces.evaluateAll((all) =>
    all.map((it) => Number((it as HTMLElement).dataset.times)),
  );
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.ok((times[0] ?? 0) < (times[3] ?? 0), 'the first piece is as old as it was');
  chat.assertQuiet();
  await chat.page.close();
});

test('an unfinished code block is one, and the code behind it is copied as it came', async () => {
  const chat = await chats.open();
  await chat.blocks([message('m', 'So:\n\n```sh\nrm \u202efile\u200b\n# *no* <b>markup</b>')]);
  const code = chat.page.locator('pre code');
  assert.equal(await code.innerText(), 'rm \\u202efile\\u200b\n# *no* <b>markup</b>');
  await chat.page.getByRole('button', { name: 'Copy' }).click();
  assert.deepEqual(
    (await chat.sent('copy')).map((it) => it.text),
    ['rm \u202efile\u200b\n# *no* <b>markup</b>'],
  );
  await chat.page.close();
});

test('what is selected stays selected while another message grows', async () => {
  const chat = await chats.open();
  await chat.blocks([message('a', 'Select these words'), message('b', 'Growing')]);
  await chat.page.locator('article').first().locator('p').selectText();
  for (let index = 0; index < 20; index += 1) {
    await chat.blocks([message('b', `Growing${' more'.repeat(index)}`)]);
  }
  const selected = await chat.page.evaluate(() => document.getSelection()?.toString());
  assert.equal(selected, 'Select these words');
  await chat.page.close();
});

test('a text whose beginning falls away keeps what is still in it', async () => {
  const chat = await chats.open();
  const paragraphs = Array.from({ length: 50 }, (_, index) => `Paragraph ${index}.`);
  await chat.blocks([message('m', paragraphs.join('\n\n'))]);
  await chat.page.evaluate(() => {
    for (const piece of document.querySelectorAll('.piece')) {
      piece.classList.add('seen');
    }
  });
  const later = [...paragraphs.slice(3), 'New.'].join('\n\n');
  await chat.blocks([message('m', later, 'agent', { truncated: true })]);
  const shown = await chat.page
    .locator('.piece')
    .evaluateAll((all) => [
      all.length,
      all.filter((it) => it.classList.contains('seen')).length,
      all.at(0)?.textContent.trim(),
      all.at(-1)?.textContent.trim(),
    ]);
  assert.deepEqual(shown, [48, 47, 'Paragraph 3.', 'New.']);
  assert.ok(await chat.page.getByText('The beginning is left out').isVisible());
  await chat.page.close();
});

test('what a tool says keeps its lines, and hard breaks are no empty ones', async () => {
  const chat = await chats.open();
  const said = '  14 lines  greeting.py\n   3 lines  notes.md  \ndone';
  const content = [{ type: 'content' as const, content: { type: 'text' as const, text: said } }];
  await chat.blocks([toolCall('x', 'Count', { toolKind: 'other', content })]);
  await chat.page.getByRole('button', { name: /Count/ }).click();
  const shown = await chat.page.locator('.tool-text').innerText();
  assert.deepEqual(shown.trim().split('\n'), [
    '14 lines  greeting.py',
    '3 lines  notes.md',
    'done',
  ]);
  await chat.page.close();
});

test('a command is shown in full, what could hide in it as escapes', async () => {
  const chat = await chats.open();
  const command = `echo ${'long '.repeat(400)}\u202e && rm -rf ~\nsecond line`;
  await chat.blocks([toolCall('x', 'Run', { toolKind: 'execute', command })]);
  const shown = chat.page.locator('.command code');
  assert.equal(await shown.innerText(), command.replace('\u202e', '\\u202e'));
  const box = await shown.evaluate((it) => [
    it.scrollWidth <= it.clientWidth + 1,
    it.scrollHeight <= it.clientHeight + 1,
  ]);
  assert.deepEqual(box, [true, true]);
  await chat.page.close();
});

test('the output of a command grows in place, and it can be opened and stopped', async () => {
  const chat = await chats.open();
  const terminal = {
    terminalId: 't1',
    command: 'make test',
    cwd: '/ws',
    output: 'one\n',
    truncated: false,
    exitStatus: null,
  };
  await chat.blocks([
    toolCall('x', 'Test', {
      toolKind: 'execute',
      status: 'in_progress',
      content: [{ type: 'terminal', terminalId: 't1', terminal }],
    }),
  ]);
  await chat.page.locator('.output').evaluate((it) => {
    const text = it.firstChild;
    if (text) {
      document.getSelection()?.setBaseAndExtent(text, 0, text, 3);
    }
  });
  await chat.receive({
    type: 'terminal',
    terminal: { ...terminal, sessionId: 's', output: 'one\n<b>two</b>\u001b[0m\n' },
  });
  await chat.settled();
  assert.equal(await chat.page.locator('.output').innerText(), 'one\n<b>two</b>\\u001b[0m');
  assert.equal(await chat.page.evaluate(() => document.getSelection()?.toString()), 'one');
  await chat.page.getByRole('button', { name: 'Open' }).click();
  await chat.page.getByRole('button', { name: 'Kill' }).click();
  assert.equal((await chat.sent('openTerminal'))[0]?.terminalId, 't1');
  assert.equal((await chat.sent('killTerminal'))[0]?.terminalId, 't1');
  const exitStatus = { exitCode: 2, signal: null };
  await chat.receive({ type: 'terminal', terminal: { ...terminal, sessionId: 's', exitStatus } });
  await chat.settled();
  assert.equal(await chat.page.locator('.exit').innerText(), 'exit 2');
  assert.equal(await chat.page.getByRole('button', { name: 'Kill' }).count(), 0);
  const unsaid = { exitCode: null, signal: null };
  await chat.receive({
    type: 'terminal',
    terminal: { ...terminal, sessionId: 's', exitStatus: unsaid },
  });
  await chat.settled();
  assert.equal(await chat.page.locator('.exit').innerText(), 'ended');
  await chat.page.close();
});

test('diffs are lines with their signs, of one file or of a patch', async () => {
  const chat = await chats.open();
  const patch = '--- a/one.txt\n+++ b/one.txt\n@@ -5,2 +5,2 @@\n same\n-old\n+new <b>\n';
  await chat.blocks([
    toolCall('e', 'Edit', {
      toolKind: 'edit',
      content: [
        { type: 'diff', path: '/ws/src/a.py', oldText: 'a\nb\n', newText: 'a\nc\n' },
        {
          type: 'diff',
          changes: [
            { operation: 'modify', path: '/ws/one.txt' },
            { operation: 'move', path: '/ws/three', oldPath: '/ws/two', fileType: 'binary' },
          ],
          patch: { format: 'git_patch', text: patch },
        },
      ],
    }),
  ]);
  const lines = await chat.page
    .locator('.diff-lines .line')
    .evaluateAll((all) =>
      all.map((it) =>
        [...it.children]
          .map((part) => (part as HTMLElement).dataset.number ?? part.textContent)
          .join('|'),
      ),
    );
  assert.deepEqual(lines, [' |a', '−|b', '+|c', '5| |same', '6|−|old', '6|+|new <b>']);
  const titles = await chat.page.locator('.diff-title').allInnerTexts();
  assert.deepEqual(
    titles.map((it) => it.replace(/\s+/gu, ' ')),
    ['src/a.py −1 +1', 'one.txt −1 +1', 'two → three moved, binary'],
  );
  await chat.page.getByRole('button', { name: 'Open diff' }).nth(1).click();
  assert.deepEqual(await chat.sent('openDiff'), [
    { type: 'openDiff', sessionId: 's', toolCallId: 'e', index: 1 },
  ]);
  await chat.page.close();
});

test('pictures are shown, kinds that are not known are passed over', async () => {
  const chat = await chats.open();
  const data = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
  await chat.blocks([
    message('p', '', 'agent', { content: [{ type: 'image', data, mimeType: 'image/gif' }] }),
    { id: 'u', kind: 'of_the_future' } as never,
    message('m', 'After it'),
  ]);
  const loaded = await chat.page
    .locator('img')
    .evaluate((it) => (it as HTMLImageElement).naturalWidth);
  assert.equal(loaded, 1);
  assert.equal(await chat.page.locator('article').count(), 2);
  chat.assertQuiet();
  await chat.page.close();
});

test('a task of a list is shown as done or to be done', async () => {
  const chat = await chats.open();
  await chat.blocks([message('m', '- [x] changed\n- [ ] *tested*\n- [y] neither\n\nA [ ] b')]);
  const items = chat.page.locator('li');
  assert.deepEqual(await items.allInnerTexts(), ['changed', 'tested', '[y] neither']);
  const marks = await chat.page
    .locator('li .task')
    .evaluateAll((all) => all.map((it) => it.getAttribute('aria-label')));
  assert.deepEqual(marks, ['done', 'to do']);
  await chat.page.close();
});

test('code in a block has the ground of its block, and a table breaks no word', async () => {
  const chat = await chats.open();
  const table = `| file | change |\n|---|---|\n| \`src/parting.py\` | ${'words '.repeat(40)} |`;
  await chat.blocks([
    message('m', `\`\`\`python\ndef a(): pass\n\`\`\`\n\n${table}`),
    toolCall('x', 'Run', { toolKind: 'execute', command: 'make test' }),
  ]);
  const grounds = await chat.page
    .locator(':is(pre, .command) code')
    .evaluateAll((all) => all.map((it) => getComputedStyle(it).backgroundColor));
  assert.deepEqual(grounds, ['rgba(0, 0, 0, 0)', 'rgba(0, 0, 0, 0)']);
  const file = await chat.page.locator('td code').boundingBox();
  assert.ok(file && file.height < 30, `it takes ${file?.height} px`);
  await chat.page.close();
});

test('what a tool found is shown as it is, what it says is Markdown', async () => {
  const chat = await chats.open();
  const text = '# total 2\n* a   b\n<shell>\n';
  const content = [{ type: 'content' as const, content: { type: 'text' as const, text } }];
  const fenced = [
    { type: 'content' as const, content: { type: 'text' as const, text: '```\none\n```' } },
  ];
  await chat.blocks([
    toolCall('x', 'ls', { toolKind: 'execute', command: 'ls', content }),
    toolCall('f', 'Fenced', { toolKind: 'execute', content: fenced }),
    toolCall('t', 'Think', { toolKind: 'think', status: 'failed', content }),
  ]);
  const row = (key: string) => chat.page.locator(`article[data-key="${key}"]`);
  assert.equal(await row('x').locator('.output').textContent(), text.trimEnd());
  assert.equal(await row('x').locator('h1, li').count(), 0);
  assert.equal(await row('f').locator('pre code').textContent(), 'one');
  assert.equal(await row('t').locator('h1').textContent(), 'total 2');

  // More comes, and its end is in sight; another kind is told later.
  const long = Array.from({ length: 60 }, (_, n) => `tick ${n}`).join('\n');
  const grown = [
    { type: 'content' as const, content: { type: 'text' as const, text: `${text}${long}` } },
  ];
  await chat.blocks([toolCall('x', 'ls', { toolKind: 'execute', command: 'ls', content: grown })]);
  const left = await row('x')
    .locator('.output')
    .evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
  assert.ok(left < 8, `${left} px are left below`);
  await chat.blocks([toolCall('x', 'ls', { toolKind: 'other', status: 'failed', content })]);
  await row('x').locator('h1').waitFor();
  await chat.page.close();
});

test('a tool call has its paths short, its command once, and a title of its own without one', async () => {
  const chat = await chats.open();
  const place = { path: '/ws/src/app.py', line: null };
  const folder = { path: '/ws/', line: null };
  const command = `python3 ${'a-long-word '.repeat(12)}`.trim();
  const calls: [string, Parameters<typeof toolCall>[2]][] = [
    ['/ws/src/app.py', { locations: [place] }],
    ['ws/src/app.py', { locations: [place] }],
    ["Read file '/ws/src/app.py'", { locations: [place] }],
    ['grep', { toolKind: 'search', locations: [folder] }],
    [command, { toolKind: 'execute', command, locations: [folder], rawInput: { command } }],
    ['edit', { toolKind: 'edit', status: 'failed', locations: [place] }],
  ];
  const untitled = toolCall('none', '', { status: 'failed' });
  await chat.blocks([
    ...calls.map(([title, more], index) => toolCall(`c${index}`, title, more)),
    { ...untitled, title: null },
  ]);
  const texts = (await chat.page.locator('article').allInnerTexts()).map((it) => it.trim());
  assert.deepEqual(
    texts.map((it) => it.replaceAll(/\s+/gu, ' ')),
    [
      'src/app.py',
      'src/app.py',
      "Read file 'src/app.py'",
      'grep',
      `${command} Input`,
      'edit src/app.py',
      'Tool call',
    ],
  );
  chat.assertQuiet();
  await chat.page.close();
});

test('beside a long title places and status have room', async () => {
  const chat = await chats.open('vscode-dark', { width: 360, height: 700 });
  const path = `/elsewhere/${'deep/'.repeat(5)}file.txt`;
  await chat.blocks([
    toolCall('x', 'A long title '.repeat(12), { locations: [{ path, line: null }] }),
    toolCall('y', 'A long title '.repeat(12)),
    toolCall('z', 'Short'),
  ]);
  const place = await chat.page.locator('.tool-places a').boundingBox();
  assert.ok(place && place.height < 60, `it takes ${place?.height} px`);
  for (const row of await chat.page.locator('.disclosure-row').all()) {
    const outer = await row.boundingBox();
    const status = await row.locator('.tool-status').boundingBox();
    assert.ok(outer && status);
    const left = outer.x + outer.width - status.x - status.width;
    assert.ok(left >= 0 && left < 12, `${left} px are left beside it`);
  }
  await chat.page.close();
});

test('a tool call can be cancelled as long as the sidecar says so', async () => {
  const chat = await chats.open();
  const watching = { status: 'in_progress', capabilities: { cancel: {} } } as const;
  await chat.blocks([
    toolCall('w', 'Watch', { ...watching, cancellable: true }),
    toolCall('b', 'Build', watching),
  ]);
  const cancel = chat.page.getByRole('button', { name: 'Cancel', exact: true });
  assert.equal(await cancel.count(), 1);
  await cancel.click();
  assert.deepEqual(await chat.sent('cancelToolCall'), [
    { type: 'cancelToolCall', sessionId: SESSION.sessionId, toolCallId: 'w' },
  ]);
  await chat.blocks([toolCall('w', 'Watch', { ...watching, status: 'cancelled' })]);
  await chat.settled();
  assert.equal(await cancel.count(), 0);
  await chat.page.close();
});
