import type { ContentBlock } from '../../src/protocol.ts';
import { element, icon } from '../element.ts';
import { codeBlock, pathLink } from '../markdown.ts';
import { basename, pathIn, shortPath } from '../paths.ts';
import { visible } from '../visible.ts';
import type { BlockContext } from './context.ts';
import { fold } from './fold.ts';

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** What is no text of a message: a picture, a link, a file that came with it. */
export function attachment(
  content: Exclude<ContentBlock, { type: 'text' }>,
  name: string,
  context: BlockContext,
): Node {
  switch (content.type) {
    case 'image':
      return picture(content, context);
    case 'audio':
      return note('unmute', `Audio (${visible(content.mimeType)}) cannot be played here`);
    case 'resource_link':
      return chip(content.title ?? content.name, content.uri, context);
    case 'resource': {
      const { uri, text } = content.resource;
      if (text === undefined) {
        return chip(basename(uri), uri, context);
      }
      const summary = [
        icon('file'),
        element('span', { class: 'fold-title', text: visible(shortUri(uri, context)) }),
      ];
      return fold(context, name, summary, (body) => {
        body.append(codeBlock(text, /\.(\w+)$/u.exec(uri)?.[1] ?? '', context));
      }).element;
    }
    default:
      return note(
        'question',
        `Something of the kind “${visible((content as { type: string }).type)}”`,
      );
  }
}

function picture(
  content: { data: string; mimeType: string; uri?: string | null },
  context: BlockContext,
): Node {
  if (PICTURES.includes(content.mimeType) && /^[A-Za-z0-9+/=\s]*$/u.test(content.data)) {
    const alt = content.uri ? `Picture ${basename(content.uri)}` : 'Picture';
    return element('img', {
      class: 'picture',
      alt,
      src: `data:${content.mimeType};base64,${content.data}`,
    });
  }
  return content.uri
    ? chip(basename(content.uri), content.uri, context)
    : note('file-media', `A picture of a kind that is not shown (${visible(content.mimeType)})`);
}

function note(symbol: string, text: string): HTMLElement {
  return element('span', { class: 'chip' }, icon(symbol), text);
}

function chip(name: string, uri: string, context: BlockContext): HTMLElement {
  const place = pathIn(uri) ?? (/^file:/iu.test(uri) ? null : { path: uri, line: null });
  if (/^https?:/iu.test(uri)) {
    const anchor = element('a', { href: uri, title: visible(uri), text: visible(name) });
    anchor.addEventListener('click', (event) => {
      event.preventDefault();
      event.stopPropagation();
      context.openLink(uri);
    });
    return element('span', { class: 'chip' }, icon('link'), anchor);
  }
  const shown =
    place && !/^[a-z][a-z0-9+.-]+:/iu.test(place.path)
      ? pathLink(name, place, context)
      : visible(name);
  return element('span', { class: 'chip' }, icon('file'), shown);
}

function shortUri(uri: string, context: BlockContext): string {
  const place = pathIn(uri);
  return place ? shortPath(place.path, context.cwd) : uri;
}
