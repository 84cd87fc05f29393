/** The hand on the mouse. */

import type { ElementHandle, JSHandle, Locator, Page } from 'playwright-core';

import { until } from './until.ts';

/** Moves the mouse to where nothing is shown for its being there. */
export async function restMouse(page: Page): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 2, height: 2 };
  await page.mouse.move(width - 2, height / 2);
}

/** Clicks. What the mouse makes appear where it rests, a tip, would be in the way: it moves first. */
export async function press(target: Locator): Promise<void> {
  await restMouse(target.page());
  await click(target);
}

/**
 * Clicks, until what is there has heard it. What is redrawn or moves between the button's going
 * down and up hears nothing.
 *
 * @param event what it listens for
 * @throws Error it was not there, or could not be clicked, for 30 s
 */
export async function click(target: Locator, event: 'click' | 'mouseup' = 'click'): Promise<void> {
  let last = '';
  try {
    await until(`${String(target)} is clicked`, async () => {
      try {
        return await clicked(await target.elementHandle({ timeout: 5000 }), event);
      } catch (error) {
        if (target.page().isClosed()) {
          throw error;
        }
        last = String(error);
        return false;
      }
    });
  } catch (error) {
    throw new Error(`${String(error)}\n${last}`, { cause: error });
  }
}

/** Whether the click was heard. */
async function clicked(element: ElementHandle, event: string): Promise<boolean> {
  const ear: JSHandle<{ heard: boolean }> = await element.evaluateHandle(listen, event);
  const heard = (otherwise: boolean) => ear.evaluate((it) => it.heard).catch(() => otherwise);
  try {
    await element.click({ timeout: 5000 });
  } catch (error) {
    if (await heard(false)) {
      return true;
    }
    throw error;
  }
  // A page that is gone was gone by the click.
  return heard(true);
}

/** Runs in the page: whether this element, or one that was drawn in its place, hears the event. */
function listen(element: Node, event: string): { heard: boolean } {
  const ear = { heard: false };
  const text = element.textContent;
  const isLike = (it: EventTarget) =>
    it instanceof Element && it.nodeName === element.nodeName && it.textContent === text;
  window.addEventListener(
    event,
    (heard) => {
      const path = heard.composedPath();
      ear.heard = path.includes(element) || (event === 'mouseup' && path.some(isLike));
    },
    { capture: true, once: true },
  );
  return ear;
}
