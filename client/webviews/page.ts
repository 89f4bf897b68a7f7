/** The page's end of a panel: draws what it is told to show, and passes on what the user asks for. */
import type { Said, Show } from '../src/panels/protocol';

interface EditorApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): EditorApi;

export interface Page<Asked> {
  /** The element that the page fills. */
  readonly root: HTMLElement;
  ask(asked: Asked): void;
}

/** Calls `draw` with all that is to be shown, each time that it changes. May be called once. */
export function openPage<Shown, Asked>(
  draw: (shown: Shown, page: Page<Asked>) => void,
): Page<Asked> {
  const editor = acquireVsCodeApi();
  const say = (said: Said<Asked>) => editor.postMessage(said);
  const root = document.getElementById('root');
  if (root === null) {
    throw new Error('the page has no root');
  }
  const page: Page<Asked> = { root, ask: (asked) => say({ type: 'ask', asked }) };
  window.addEventListener('message', ({ data }: MessageEvent<Show<Shown>>) => {
    if (data.type === 'show') {
      editor.setState(data.memory);
      draw(data.shown, page);
    }
  });
  say({ type: 'ready' });
  return page;
}
