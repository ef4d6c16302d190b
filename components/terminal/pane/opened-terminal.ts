import type { Terminal } from '@xterm/xterm'
import type { PageTerminal } from '#lib/terminal/page/page-terminal.ts'

/** A terminal on the screen, as the parts around it get it: each adds what it is for and takes it away again. */
export interface OpenedTerminal {
  terminal: Terminal
  session: PageTerminal
  /** Of the pane: what lies over or beside the screen is placed in it. */
  element: HTMLElement
  devboxId: string
  /** The name of the session, which is in the address. */
  name: string
  focus(): void
  /** To be called when the cells have another size; the element's own changes are followed anyway. */
  fit(): void
  /** As if pasted: with the guards of a paste already passed. */
  paste(text: string): void
  /**
   * Asked before the terminal takes a key, the last one added first. True: the key is used up. Returns the call that
   * takes it away.
   */
  onKey(handler: (event: KeyboardEvent) => boolean): () => void
  /** Answers what is sent instead of what was typed, the last one added first. Returns the call that takes it away. */
  onInput(change: (text: string) => string): () => void
}
