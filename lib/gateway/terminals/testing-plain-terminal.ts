import { WholeCharacters } from '#lib/terminal/xterm/characters.ts'
import { charsetFlag, openXterm } from '#lib/terminal/xterm/headless.ts'
import type { Attributes, Core, Line, Screen } from '#lib/terminal/xterm/internals.ts'
import { readOsc } from '#lib/terminal/xterm/osc.ts'

interface TestedCore {
  coreMouseService: { triggerMouseEvent(event: Record<string, number | boolean>): boolean }
  _inputHandler: {
    onColor(listener: (changes: { type: number; index?: number; color?: number[] }[]) => void): void
  }
  _oscLinkService: { registerLink(link: { uri: string }): number; addLineToLink(id: number): void }
}

/** A terminal like a page's, with everything about it that can be observed. */
export class PlainTerminal {
  readonly #core: Core & TestedCore
  readonly #characters = new WholeCharacters()
  readonly #palette = new Map<number, string>()
  readonly #links: string[] = []
  #folder = ''
  #answered = ''

  constructor(cols: number, rows: number, scrollback: number) {
    this.#core = openXterm({ cols, rows, scrollback }) as Core & TestedCore
    const { _inputHandler: handler, _oscLinkService: links } = this.#core
    handler.onColor((changes) => {
      for (const { type, index, color } of changes) {
        if (type === 1 && index !== undefined) this.#palette.set(index, String(color))
        else if (type === 2 && index !== undefined) this.#palette.delete(index)
        else if (type === 2) for (const each of this.#palette.keys()) if (each < 256) this.#palette.delete(each)
      }
    })
    // xterm drops a link together with the line it started on, even where it continues.
    links.registerLink = ({ uri }) => this.#links.push(uri)
    links.addLineToLink = () => undefined
    readOsc(this.#core, 7, Number.POSITIVE_INFINITY, (folder) => {
      this.#folder = folder
    })
    this.#core.onData((text) => {
      this.#answered += text
    })
  }

  feed(bytes: Uint8Array | string): this {
    this.#core._inputHandler.parse(this.#characters.take(typeof bytes === 'string' ? Buffer.from(bytes) : bytes))
    return this
  }

  resize(cols: number, rows: number): void {
    this.#core.resize(cols, rows)
  }

  /** The answer to a query or a mouse event. */
  answerTo(question: string): string {
    this.#answered = ''
    this.feed(question)
    return this.#answered
  }

  answerToMouse(): string {
    this.#answered = ''
    const event = { col: 2, row: 1, x: 20, y: 10, ctrl: false, alt: false, shift: false }
    for (const [button, action] of [
      [0, 1],
      [0, 32],
      [3, 32],
      [0, 0],
      [4, 1],
    ] as const)
      this.#core.coreMouseService.triggerMouseEvent({ ...event, button, action, col: event.col++ })
    return this.#answered
  }

  /** The cursor is past an empty last cell, where no byte sequence can put it. */
  get waitsBehindNothing(): boolean {
    const { x, y, ybase, lines } = this.#core.buffers.active
    const line = lines.get(ybase + y)
    return x >= this.#core.cols && line !== undefined && cellOf(line, this.#core.cols - 1).text === ''
  }

  dispose(): void {
    this.#core.dispose()
  }

  /** One string per line keeps failures readable. */
  get look(): string[] {
    const { buffers, coreService, coreMouseService, options, _charsetService: charsets } = this.#core
    const { _inputHandler: handler } = this.#core
    const isAlternate = buffers.active === buffers.alt
    // A frame in progress is not restored.
    const { synchronizedOutput: _, ...decPrivateModes } = coreService.decPrivateModes as Record<string, unknown>
    return [
      ...this.#screen('normal', buffers.normal, !isAlternate),
      ...(isAlternate ? this.#screen('alternate', buffers.alt, true) : []),
      `modes ${JSON.stringify({ ...decPrivateModes, ...coreService.modes, hidden: coreService.isCursorHidden })}`,
      `lines end ${options.convertEol}, mouse ${coreMouseService.activeProtocol} ${coreMouseService.activeEncoding}`,
      `characters ${charsetFlag(charsets.charset)} of G${charsets.glevel} ${[0, 1, 2, 3].map((set) => charsetFlag(charsets._charsets[set]))}`,
      `titles ${[handler._windowTitle, handler._iconName, handler._windowTitleStack, handler._iconNameStack].join('|')}`,
      `pen ${this.#attributes(handler._curAttrData)} ${colorOf(handler._curAttrData.extended._ext)}`,
      `palette ${[...this.#palette].sort(([a], [b]) => a - b).join(' ')}`,
      `folder ${this.#folder}`,
    ]
  }

  #screen(name: string, screen: Screen, hasCursor: boolean): string[] {
    const { x, y, ybase, lines, scrollTop, scrollBottom, tabs, savedX, savedY } = screen
    const saved = `${Math.min(savedX, this.#core.cols - 1)},${Math.min(Math.max(0, savedY - ybase), this.#core.rows - 1)}`
    const savedPen = { ...screen.savedCurAttrData, extended: { _ext: 0, urlId: 0 } }
    return [
      `${name}: ${ybase} lines above, region ${scrollTop} to ${scrollBottom}`,
      `tabs ${Object.keys(tabs).filter((column) => tabs[Number(column)] && Number(column) < this.#core.cols)}`,
      hasCursor ? `cursor ${x},${y}` : 'no cursor',
      `saved ${saved} ${this.#attributes(savedPen)} ${charsetFlag(screen.savedCharset)}`,
      ...Array.from({ length: lines.length }, (_, at) => this.#line(lines.get(at), at)),
    ]
  }

  #line(line: Line | undefined, at: number): string {
    if (!line) return 'nothing'
    let text = `${line.isWrapped && at > 0 ? '+' : ' '} `
    let before = ''
    for (let column = 0; column < this.#core.cols; column++) {
      const { text: characters, width, attributes } = cellOf(line, column)
      if (width === 0 && column > 0 && cellOf(line, column - 1).width === 2) continue
      // Only the background of an invisible cell counts, as for a space in the last column.
      const isEmpty =
        (characters === '' || (characters === ' ' && column === this.#core.cols - 1)) && !shows(attributes)
      const kind = isEmpty ? `on ${colorOf(attributes.bg)}` : this.#attributes(attributes)
      if (kind !== before) text += `{${kind}}`
      before = kind
      text += isEmpty ? '·' : characters || ' '
    }
    return text
  }

  #attributes({
    fg,
    bg,
    extended,
  }: Pick<Attributes, 'fg' | 'bg'> & { extended: Pick<Attributes['extended'], '_ext' | 'urlId'> }) {
    const isExtended = (bg & 0x10000000) !== 0
    const flags = `${(fg & 0xec000000) >>> 0}/${(bg & 0x6c000000) >>> 0}`
    const style =
      fg & 0x10000000 ? (isExtended ? `_${(extended._ext >>> 26) & 7}${colorOf(extended._ext)}` : '_1-') : ''
    const link = isExtended && extended.urlId ? this.#links[extended.urlId - 1] : ''
    return `${colorOf(fg)} on ${colorOf(bg)} ${flags}${style}${link ? ` to ${link}` : ''}`
  }
}

const cellOf = (line: Line, at: number) => {
  const word = line._data[at * 3] ?? 0
  const bg = line._data[at * 3 + 2] ?? 0
  const code = word & 0x1fffff
  return {
    text: word & 0x200000 ? (line._combined[at] ?? '') : code === 0 ? '' : String.fromCodePoint(code),
    width: word >>> 22,
    attributes: {
      fg: line._data[at * 3 + 1] ?? 0,
      bg,
      extended: (bg & 0x10000000 ? line._extendedAttrs[at] : undefined) ?? { _ext: 0, urlId: 0 },
    },
  }
}

const shows = ({ fg, bg, extended }: ReturnType<typeof cellOf>['attributes']) =>
  (fg & 0x94000000) !== 0 || (bg & 0x60000000) !== 0 || extended.urlId !== 0

/** xterm leaves stale bits in unused parts of a palette color. */
const colorOf = (packed: number): string => {
  const mode = packed & 0x3000000
  if (mode === 0) return '-'
  return ((mode === 0x3000000 ? packed & 0x3ffffff : packed & 0x30000ff) >>> 0).toString(16)
}
