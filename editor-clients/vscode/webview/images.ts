import type { PastedImage } from '../src/chat/messages.ts';
import { element, iconButton } from './element.ts';

/** What a picture may weigh, in bytes. */
const IMAGE_LIMIT = 10 * 1024 * 1024;

/** The pictures of a prompt that is being written. */
export class Images {
  readonly element = element('ul', { class: 'images', 'aria-label': 'Pictures', hidden: true });
  readonly #changed: () => void;
  readonly #problem: (text: string) => void;
  readonly #leave: () => void;
  #images: PastedImage[] = [];

  /** @param leave takes the focus when the last one was removed */
  constructor(changed: () => void, problem: (text: string) => void, leave: () => void) {
    this.#changed = changed;
    this.#problem = problem;
    this.#leave = leave;
  }

  all(): PastedImage[] {
    return this.#images;
  }

  set(images: PastedImage[]): void {
    this.#images = images;
    this.#draw();
  }

  /** Takes the pictures among dropped or pasted files; one too large is refused in words. */
  async take(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      if (!file.type.startsWith('image/')) {
        continue;
      }
      if (file.size > IMAGE_LIMIT) {
        const size = (file.size / 1024 / 1024).toFixed(1);
        this.#problem(`${file.name || 'The picture'} has ${size} MB; 10 MB is the most.`);
        continue;
      }
      const data = await base64(file);
      this.#images = [...this.#images, { mimeType: file.type, data }];
      this.#draw();
      this.#changed();
    }
  }

  #draw(): void {
    this.element.hidden = this.#images.length === 0;
    this.element.replaceChildren(
      ...this.#images.map((image, index) =>
        element(
          'li',
          { class: 'image' },
          element('img', {
            src: `data:${image.mimeType};base64,${image.data}`,
            alt: `Picture ${index + 1}`,
          }),
          iconButton('close', `Remove picture ${index + 1}`, () => this.#remove(index)),
        ),
      ),
    );
  }

  #remove(index: number): void {
    this.#images = this.#images.filter((_, at) => at !== index);
    this.#draw();
    this.#changed();
    // The button that had the focus is gone.
    const buttons = [...this.element.querySelectorAll('button')];
    const next = buttons[index] ?? buttons.at(-1);
    if (next) {
      next.focus();
    } else {
      this.#leave();
    }
  }
}

async function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    });
    reader.addEventListener('error', () => reject(reader.error ?? new Error('unreadable')));
    reader.readAsDataURL(file);
  });
}
