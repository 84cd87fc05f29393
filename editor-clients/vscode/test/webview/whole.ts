/** The whole chat on a page, as the extension has it. */
import './extension.ts';
import '../../webview/main.ts';
