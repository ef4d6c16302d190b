import { ServiceError } from '#lib/service/errors.ts'
import type { RunningDevbox } from '#lib/service/runtime/execution.ts'
import type { Box } from '#lib/service/runtime/sandbox/sandbox.ts'
import { PseudoTerminal, type Size } from './pseudo-terminal.ts'

const keepReadyMs = 10 * 60 * 1000

/**
 * Starts the shells of terminals. Most of the time that takes goes into entering the devbox, so where one was started
 * the next is brought that far in advance.
 */
export class Shells {
  readonly #ready = new Map<Box, PseudoTerminal>()
  #isClosed = false

  /** Throws 503 when there is none to be had. */
  start(devbox: RunningDevbox, size: Size, events: Parameters<PseudoTerminal['begin']>[1]): PseudoTerminal {
    const ready = this.#ready.get(devbox.box)
    this.#ready.delete(devbox.box)
    try {
      const terminal = ready?.isWaiting ? ready : enter(devbox)
      terminal.begin(size, events)
      return terminal
    } catch (cause) {
      throw new ServiceError('unavailable', 'The terminal could not be started', { cause, retryAfterSeconds: 1 })
    }
  }

  /** Has the next shell of the devbox begin at once. */
  prepare(devbox: RunningDevbox): void {
    const { box } = devbox
    if (this.#isClosed || this.#ready.get(box)?.isWaiting) return
    try {
      const terminal = enter(devbox)
      this.#ready.set(box, terminal)
      const drop = () => {
        terminal.discard()
        if (this.#ready.get(box) === terminal) this.#ready.delete(box)
      }
      const timer = setTimeout(drop, keepReadyMs).unref()
      void box.ended.then(() => {
        clearTimeout(timer)
        drop()
      })
    } catch {
      // Whoever opens the next one is told.
    }
  }

  close(): void {
    this.#isClosed = true
    for (const terminal of this.#ready.values()) terminal.discard()
    this.#ready.clear()
  }
}

const enter = ({ box, env }: RunningDevbox): PseudoTerminal => {
  const terminal = { TERM: 'xterm-256color', COLORTERM: 'truecolor' }
  // Unspecified: that shells mark their prompts, and how a devbox is told not to.
  const marks = env.DEVDECK_SHELL_INTEGRATION === '0' ? [] : ['--rcfile', box.bashrc]
  return new PseudoTerminal(box, { argv: ['/bin/bash', ...marks, '-i'], env: { ...env, ...terminal } })
}
