import { scenario, until, untilSame, type Workbench } from './harness/index.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Puts a picture where Ctrl+V takes it from. */
async function copyPicture({ page }: Workbench): Promise<void> {
  await page.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
    const picture = new Blob([bytes], { type: 'image/png' });
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })]);
  }, PNG);
}

scenario(
  'in the middle of a turn the chat is moved to the panel, with what is typed and its pictures',
  { files: { 'a.txt': '' }, env: { ACP_DEMO_PACE: '0.1' } },
  async (window) => {
    const { chat, page, quickPick } = window;
    await chat.prompt('/wait 600');
    await chat.is('at work');
    await copyPicture(window);
    await chat.field.click();
    await page.keyboard.press('Control+v');
    const pictures = chat.frame.getByRole('img', { name: /^Picture/ });
    await pictures.first().waitFor();
    await page.keyboard.press('Control+v');
    await until('there are two', async () => (await pictures.count()) === 2);
    await page.keyboard.type('/refuse');

    await window.command('View: Move View');
    await quickPick.choose('Chat');
    await quickPick.choose('New Panel Entry');
    await page.locator('.part.panel iframe, .part.panel .pane-body').first().waitFor();
    await untilSame('what was typed', '/refuse', () => chat.field.inputValue());
    await until('both pictures', async () => (await pictures.count()) === 2);
    await window.screenshot('moved');
    await chat.field.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await until('one is removed', async () => (await pictures.count()) === 1);
    await chat.is('at work');
    // What came meanwhile is not lost, nor what comes while it is hidden.
    await page.keyboard.press('Control+j');
    await chat.field.waitFor({ state: 'hidden' });
    await chat.open();
    await chat.says(/\b4\b/);
    await chat.field.press('Enter');
    await chat.frame.getByRole('list', { name: 'Waiting prompts' }).getByText('/refuse').waitFor();
    await chat.button('Cancel the turn').click();
    await chat.says(/^I got a picture: image\/png, .*1 × 1 pixels\.$/);
    await chat.says('I would rather not.');
  },
);
