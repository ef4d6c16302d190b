import { keepInput, maxUnsentBytes, noUnsentInput, type UnsentInput } from './unsent-input.ts'

interface Options {
  send(bytes: Uint8Array<ArrayBuffer>): void
  onUnsent(unsent: UnsentInput): void
}

/** A longer paste goes in pieces, so that the size limits on the way never cut the connection. */
const maxPieceBytes = 16 * 1024

/** What was typed until it has arrived: sent, waiting for a shell, or kept until the person says to send it. */
export class TypedInput {
  readonly #options: Options
  readonly #encoder = new TextEncoder()
  #unsent = noUnsentInput
  /** Typed into a terminal that was just asked for: it goes to the shell as soon as there is one. */
  #ahead = ''
  /** Sent since anything came from the console: if the connection is lost now, nobody knows whether it arrived. */
  #unconfirmed = ''

  constructor(options: Options) {
    this.#options = options
  }

  /** Text that follows unsent text is kept with it: half a command would be another command. */
  type(text: string) {
    if (this.#unsent.text === '') this.#send(text)
    else this.keep(text)
  }

  typeAhead(text: string) {
    if (this.#unsent.text !== '' || this.#ahead.length + text.length > maxUnsentBytes) this.keep(text)
    else this.#ahead += text
  }

  keep(text: string) {
    this.#setUnsent(keepInput(this.#unsent, text))
  }

  /** Reports of mouse and focus are sent now or never. */
  report(bytes: Uint8Array<ArrayBuffer>) {
    this.#options.send(bytes)
  }

  sendUnsent() {
    const { text } = this.#unsent
    this.discardUnsent()
    this.#send(text)
  }

  discardUnsent() {
    this.#setUnsent(noUnsentInput)
  }

  /** Something came from the console. */
  heard() {
    this.#unconfirmed = ''
  }

  /** A shell is there. Unsent text that was typed for another shell is marked, so that the person is warned. */
  opened({ mayType, isAnotherShell }: { mayType: boolean; isAnotherShell: boolean }) {
    const ahead = this.#ahead
    this.#ahead = ''
    if (isAnotherShell && this.#unsent.text !== '') this.#setUnsent({ ...this.#unsent, isForAnotherShell: true })
    if (mayType && ahead !== '') this.type(ahead)
  }

  /** There is no connection any more. */
  closed(how: 'lost' | 'ended' | 'taken' | 'refused') {
    const [ahead, unconfirmed] = [this.#ahead, this.#unconfirmed]
    this.#ahead = this.#unconfirmed = ''
    if (how === 'ended') return this.discardUnsent()
    if (how === 'lost' && unconfirmed !== '')
      this.#setUnsent({ ...keepInput(this.#unsent, unconfirmed), mayHaveArrived: true })
    if (ahead !== '') this.keep(ahead)
  }

  #send(text: string) {
    const bytes = this.#encoder.encode(text)
    for (let start = 0; start < bytes.length; start += maxPieceBytes)
      this.#options.send(bytes.slice(start, start + maxPieceBytes))
    // More could not be kept anyway.
    if (this.#unconfirmed.length <= maxUnsentBytes) this.#unconfirmed += text
  }

  #setUnsent(unsent: UnsentInput) {
    if (unsent === this.#unsent) return
    this.#unsent = unsent
    this.#options.onUnsent(unsent)
  }
}
