import type { ShellInput, TerminalNotice } from '#lib/protocol/terminals.ts'

const maxPages = 100
const maxDrops = 50

type Dropped = Extract<TerminalNotice, { t: 'dropped' }>

interface Page {
  /** Bytes received from the page, over all its connections. */
  received: number
  /** Up to here its bytes have reached the shell or were dropped. */
  settled: number
  /** Reported again when the page comes back: a connection that is lost may not have taken the report along. */
  drops: Dropped[]
}

interface Input {
  page: string
  /** In bytes of the page, and in bytes given to the link. */
  pageEnd: number
  linkEnd: number
  length: number
}

/** Which bytes of which page have reached the shell. A page has the same name over all its connections. */
export class TypedPositions {
  readonly #tell: (page: string, notice: TerminalNotice) => void
  readonly #pages = new Map<string, Page>()
  #onTheWay: Input[] = []

  constructor(tell: (page: string, notice: TerminalNotice) => void) {
    this.#tell = tell
  }

  /** Undefined for a page that has sent nothing yet. */
  receivedFrom(page: string): number | undefined {
    return this.#pages.get(page)?.received
  }

  /** Counts input of a page, given to the link by `send`, which returns the link's position after it. */
  typed(name: string, length: number, send: () => number): void {
    const page = this.#page(name)
    page.received += length
    this.#onTheWay.push({ page: name, pageEnd: page.received, linkEnd: send(), length })
  }

  /** Counts input of a page that nobody takes. */
  refused(name: string, length: number): void {
    const page = this.#page(name)
    page.received += length
    this.#drop(name, page.received - length, page.received, false)
  }

  /** Everything given to the link up to a position has reached the shell, but for what was dropped. */
  reached(position: number, shellInput?: ShellInput): void {
    const settled = new Set<string>()
    const left: Input[] = []
    for (const input of this.#onTheWay) {
      const page = this.#pages.get(input.page)
      const reached = Math.min(input.length, position - input.linkEnd + input.length)
      if (reached < input.length) left.push(input)
      if (!page || reached <= 0) continue
      page.settled = input.pageEnd - input.length + reached
      settled.add(input.page)
    }
    this.#onTheWay = left
    const input = shellInput && { input: shellInput }
    for (const name of settled) this.#tell(name, { t: 'typed', n: this.#pages.get(name)?.settled ?? 0, ...input })
  }

  /** What was given to the link between two positions does not reach the shell, as far as the console knows. */
  dropped(from: number, to: number, mayHaveArrived: boolean): void {
    const left: Input[] = []
    for (const input of this.#onTheWay) {
      const first = Math.max(from, input.linkEnd - input.length)
      const last = Math.min(to, input.linkEnd)
      if (last < input.linkEnd || first >= last) left.push(input)
      const toPage = input.pageEnd - input.linkEnd
      if (first < last) this.#drop(input.page, first + toPage, last + toPage, mayHaveArrived)
    }
    this.#onTheWay = left
  }

  /** Tells a page that is back what became of its input while it was away. */
  catchUp(name: string): void {
    const page = this.#pages.get(name)
    if (!page) return
    for (const drop of page.drops.splice(0)) this.#tell(name, drop)
    this.#tell(name, { t: 'typed', n: page.settled })
  }

  #drop(name: string, from: number, to: number, mayHaveArrived: boolean): void {
    const notice: Dropped = { t: 'dropped', from, to, may_have_arrived: mayHaveArrived }
    const page = this.#page(name)
    const before = page.drops.at(-1)
    if (before?.to === from && before.may_have_arrived === mayHaveArrived) before.to = to
    else page.drops = [...page.drops, { ...notice }].slice(-maxDrops)
    this.#tell(name, notice)
  }

  #page(name: string): Page {
    let page = this.#pages.get(name)
    if (!page) {
      const [oldest] = this.#pages.keys()
      if (oldest !== undefined && this.#pages.size >= maxPages) this.#pages.delete(oldest)
      page = { received: 0, settled: 0, drops: [] }
      this.#pages.set(name, page)
    }
    return page
  }
}
