import type { EntryBlock } from '../../src/protocol.ts';

/** All words of a block, to find it by. */
export function blockText(block: EntryBlock): string {
  switch (block.kind) {
    case 'message':
      return block.content.map((it) => (it.type === 'text' ? it.text : nameOf(it))).join('');
    case 'toolCall':
      return [
        block.title,
        block.command,
        ...block.locations.map((it) => it.path),
        ...block.content.map((it) => {
          switch (it.type) {
            case 'content':
              return it.content.type === 'text' ? it.content.text : nameOf(it.content);
            case 'diff':
              return [it.path, it.oldText, it.newText, it.patch?.text].filter(Boolean).join('\n');
            default:
              return [it.terminal?.command, it.terminal?.output].filter(Boolean).join('\n');
          }
        }),
      ]
        .filter(Boolean)
        .join('\n');
    case 'plan':
      return block.entries.map((it) => it.content).join('\n');
    case 'permission':
    case 'elicitation':
      return block.message;
    case 'notice':
      return [block.title, block.description].filter(Boolean).join('\n');
    case 'compaction':
      return block.summary ?? '';
    default:
      return '';
  }
}

function nameOf(content: object): string {
  const { name, uri } = content as { name?: unknown; uri?: unknown };
  return typeof name === 'string' ? name : typeof uri === 'string' ? uri : '';
}
