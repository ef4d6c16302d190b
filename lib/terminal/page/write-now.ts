import type { Terminal } from '@xterm/xterm'

/**
 * Writes at once. `write` does so in another turn, before which a frame may be drawn that lacks it. Nothing else may be
 * waiting to be written: it would be lost.
 */
export const writeNow = (screen: Pick<Terminal, 'write'>, bytes: Uint8Array): void =>
  (screen as unknown as { _core: { writeSync(bytes: Uint8Array): void } })._core.writeSync(bytes)
