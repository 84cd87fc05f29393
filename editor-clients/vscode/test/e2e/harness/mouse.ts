/** The hand on the mouse. */

import type { Locator, Page } from 'playwright-core';

/** Moves the mouse to where nothing is shown for its being there. */
export async function restMouse(page: Page): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 2, height: 2 };
  await page.mouse.move(width - 2, height / 2);
}

/** Clicks. What the mouse makes appear where it rests, a tip, would be in the way: it moves first. */
export async function press(target: Locator): Promise<void> {
  await restMouse(target.page());
  await target.click();
}
