/** What a panel and its page say to each other. Both sides are compiled against this file. */

/** To the page: what it is to show now, the whole of it. */
export interface Show<Shown> {
  readonly type: 'show';
  readonly shown: Shown;
  /** What the editor keeps with the page, and gives back where it restores the panel in a reloaded window. */
  readonly memory: unknown;
}

/** From the page: it is loaded and shows nothing yet, or the user asked for something. */
export type Said<Asked> =
  | { readonly type: 'ready' }
  | { readonly type: 'ask'; readonly asked: Asked };
