import { type HeldInput, holdInput, maxHeldBytes, noHeldInput } from './held-input.ts'

interface Options {
  send(bytes: Uint8Array<ArrayBuffer>): void
  onHeld(held: HeldInput): void
}

/** A longer paste goes in pieces, so that the size limits on the way never cut the connection. */
const maxPieceBytes = 16 * 1024

/** What somebody typed, until it has arrived: sent, on its way, waiting for a shell, or held back for a word. */
export class TypedInput {
  readonly #options: Options
  readonly #encoder = new TextEncoder()
  #held = noHeldInput
  /** Typed into a terminal that was just asked for: it goes to the shell as soon as there is one. */
  #ahead = ''
  /** Sent since anything came from the console: if the connection is lost now, nobody knows whether it arrived. */
  #unconfirmed = ''

  constructor(options: Options) {
    this.#options = options
  }

  /** What comes after something held back waits with it: half a command is another one. */
  type(text: string) {
    if (this.#held.text === '') this.#send(text)
    else this.hold(text)
  }

  typeAhead(text: string) {
    if (this.#held.text !== '' || this.#ahead.length + text.length > maxHeldBytes) this.hold(text)
    else this.#ahead += text
  }

  hold(text: string) {
    this.#hold(holdInput(this.#held, text))
  }

  /** Typed by no hand, and worth nothing later. */
  report(bytes: Uint8Array<ArrayBuffer>) {
    this.#options.send(bytes)
  }

  sendHeld() {
    const { text } = this.#held
    this.discardHeld()
    this.#send(text)
  }

  discardHeld() {
    this.#hold(noHeldInput)
  }

  /** Something came from the console. */
  heard() {
    this.#unconfirmed = ''
  }

  /** There is a shell. One that is not the one it was typed for must not get what is held without a warning. */
  opened({ mayType, isAnotherShell }: { mayType: boolean; isAnotherShell: boolean }) {
    const ahead = this.#ahead
    this.#ahead = ''
    if (isAnotherShell && this.#held.text !== '') this.#hold({ ...this.#held, isForAnotherShell: true })
    if (mayType && ahead !== '') this.type(ahead)
  }

  /** There is no connection any more. */
  closed(how: 'lost' | 'ended' | 'taken' | 'refused') {
    const [ahead, unconfirmed] = [this.#ahead, this.#unconfirmed]
    this.#ahead = this.#unconfirmed = ''
    if (how === 'ended') return this.discardHeld()
    if (how === 'lost' && unconfirmed !== '')
      this.#hold({ ...holdInput(this.#held, unconfirmed), mayHaveArrived: true })
    if (ahead !== '') this.hold(ahead)
  }

  #send(text: string) {
    const bytes = this.#encoder.encode(text)
    for (let start = 0; start < bytes.length; start += maxPieceBytes)
      this.#options.send(bytes.slice(start, start + maxPieceBytes))
    // Beyond what can be held anyway, it is only known that there was more.
    if (this.#unconfirmed.length <= maxHeldBytes) this.#unconfirmed += text
  }

  #hold(held: HeldInput) {
    if (held === this.#held) return
    this.#held = held
    this.#options.onHeld(held)
  }
}
