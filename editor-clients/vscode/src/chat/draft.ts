import type { ContentBlock } from '../protocol.ts';
import type { Draft, PastedImage } from './messages.ts';

/** Whether nothing is typed. */
export function isEmpty(draft: Draft): boolean {
  return draft.text === '' && draft.images.length === 0;
}

/** Puts what was not sent in front of what is typed. */
export function inFront(unsent: Draft, draft: Draft): Draft {
  return {
    text: [unsent.text, draft.text].filter((text) => text !== '').join('\n\n'),
    images: [...unsent.images, ...draft.images],
  };
}

/** A prompt as it was sent, as a draft again. */
export function asDraft(prompt: { text: string; content?: ContentBlock[] }): Draft {
  const images: PastedImage[] = (prompt.content ?? []).flatMap((block) =>
    block.type === 'image' ? [{ mimeType: block.mimeType, data: block.data }] : [],
  );
  return { text: prompt.text, images };
}
