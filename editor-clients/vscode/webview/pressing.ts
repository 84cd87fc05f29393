/** Milliseconds after which a press is no click any more, but holds something or selects. */
const MOST_MS = 1000;

let pressed = false;
let timer = 0;
let waiting: (() => void)[] = [];

/**
 * Draws once nothing is pressed, which mostly is at once. The browser makes a click of a press
 * only where what it began on is still there at its end: what came, went or moved meanwhile would
 * take the click away.
 */
export function afterPress(draw: () => void): void {
  if (pressed) {
    waiting.push(draw);
  } else {
    draw();
  }
}

function begin(): void {
  pressed = true;
  clearTimeout(timer);
  timer = window.setTimeout(end, MOST_MS);
}

function end(): void {
  clearTimeout(timer);
  pressed = false;
  const draws = waiting;
  waiting = [];
  for (const draw of draws) {
    draw();
  }
}

/** The click itself is told after `pointerup`. */
function letGo(): void {
  setTimeout(end);
}

window.addEventListener('pointerdown', begin, true);
window.addEventListener('pointerup', letGo, true);
window.addEventListener('pointercancel', letGo, true);
window.addEventListener('blur', letGo);
