import type { EntryBlock } from '../../src/protocol.ts';
import type { BlockContext, BlockView } from './context.ts';
import { elicitationView } from './elicitation.ts';
import { messageView } from './message.ts';
import { compactionView, noticeView } from './notice.ts';
import { permissionView } from './permission.ts';
import { planView } from './plan.ts';
import { toolCallView } from './tool_call.ts';

/** How a block is drawn, by its kind. */
export function viewOf(block: EntryBlock, context: BlockContext): BlockView {
  switch (block.kind) {
    case 'message':
      return messageView(block, context) as BlockView;
    case 'toolCall':
      return toolCallView(block, context) as BlockView;
    case 'plan':
      return planView(block, context) as BlockView;
    case 'permission':
      return permissionView(block, context) as BlockView;
    case 'elicitation':
      return elicitationView(block, context) as BlockView;
    case 'notice':
      return noticeView(block, context) as BlockView;
    case 'compaction':
      return compactionView(block, context) as BlockView;
  }
}

/** Pixels a block is likely to take, before it has been drawn. */
export function likelyHeight(block: EntryBlock): number {
  switch (block.kind) {
    case 'message': {
      if (block.role === 'thought') {
        return 30;
      }
      const length = block.content.reduce(
        (sum, it) => sum + (it.type === 'text' ? it.text.length : 300),
        0,
      );
      return 36 + Math.ceil(length / 60) * 20;
    }
    case 'toolCall':
      return block.content.some((it) => it.type !== 'content') ? 200 : 34;
    case 'plan':
      return 50 + block.entries.length * 24;
    case 'permission':
    case 'elicitation':
      return block.state === 'waiting' ? 220 : 40;
    default:
      return 48;
  }
}
