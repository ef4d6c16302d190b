import { charsetFlag } from '../xterm/headless.ts'
import type { Core, Screen } from '../xterm/internals.ts'
import { readOsc, reportedFolder } from '../xterm/osc.ts'
import type { LinkOf, ScreenWriter } from './screen.ts'

const maxTitle = 200
const maxLinks = 20_000
const maxLinkCharacters = 4 * 1024 * 1024
const maxPayload = 8 * 1024

/** State that xterm forgets or keeps only in pages, and with xterm's own what `ScreenWriter` leaves out. */
export class TerminalModes {
  readonly #core: Core
  /** Palette entries by index; 256, 257 and 258 are the default text, background and cursor colors. */
  readonly #palette = new Map<number, string>()
  #folder = ''
  /** Cursor blinking (?12); undefined if never set. */
  #blinks: boolean | undefined
  readonly #links = new Map<number, { key: string; parameters: string; uri: string }>()
  readonly #linkIds = new Map<string, number>()
  #linkCharacters = 0
  #lastLink = 0

  constructor(core: Core) {
    this.#core = core
    const handler = core._inputHandler
    // xterm's own handlers would buffer up to 10 MB per payload.
    this.#take(0, (data) => {
      handler.setTitle(title(data))
      handler.setIconName(title(data))
    })
    this.#take(1, (data) => handler.setIconName(title(data)))
    this.#take(2, (data) => handler.setTitle(title(data)))
    this.#take(4, (data) => this.#setPalette(data))
    this.#take(7, (data) => this.#setFolder(data))
    this.#take(8, (data) => this.#setLink(data))
    for (const index of [0, 1, 2]) {
      this.#take(10 + index, (data) => this.#setSpecialColors(data, index))
      this.#take(110 + index, () => this.#palette.delete(256 + index))
    }
    this.#take(104, (data) => this.#resetPalette(data))
    // Setting queries (DECRQSS) have textual answers, which must not be typed into a shell.
    handler._parser.clearDcsHandler({ intermediates: '$', final: 'q' })
    for (const [final, isOn] of [
      ['h', true],
      ['l', false],
    ] as const)
      handler.registerCsiHandler({ prefix: '?', final }, ({ params, length }) => {
        for (let at = 0; at < length; at++) if (params[at] === 12) this.#blinks = isOn
        return false
      })
  }

  get title(): string {
    return this.#core._inputHandler._windowTitle
  }

  linkOf: LinkOf = (id) => this.#links.get(id)

  /** Writes state that a reset doesn't touch, for a terminal that was just reset. */
  before(to: ScreenWriter): void {
    const { _inputHandler: handler } = this.#core
    to.add('\x1b[20l\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\')
    if (this.#blinks !== undefined) to.add(`\x1b[?12${this.#blinks ? 'h' : 'l'}`)
    const palette = [...this.#palette].filter(([index]) => index < 256)
    if (palette.length > 0) to.add(`\x1b]4;${palette.map(([index, color]) => `${index};${color}`).join(';')}\x1b\\`)
    for (const index of [0, 1, 2]) {
      const color = this.#palette.get(256 + index)
      if (color !== undefined) to.add(`\x1b]${10 + index};${color}\x1b\\`)
    }
    // A reset doesn't clear the title stacks, which hold at most ten entries.
    to.add('\x1b[23t'.repeat(10))
    for (const [stack, code, now] of [
      [handler._windowTitleStack, 2, handler._windowTitle],
      [handler._iconNameStack, 1, handler._iconName],
    ] as const) {
      for (const each of stack) to.add(`\x1b]${code};${each}\x1b\\\x1b[22;${code}t`)
      to.add(`\x1b]${code};${now}\x1b\\`)
    }
    to.add(`\x1b]7;${this.#folder}\x1b\\`)
  }

  /** Writes the state of one screen: tab stops, saved cursor, scroll region. Moves the cursor. */
  ofScreen(
    { tabs, savedX, savedY, savedCurAttrData: savedPen, savedCharset, scrollTop, scrollBottom, ybase }: Screen,
    to: ScreenWriter,
  ): void {
    const { cols, rows } = this.#core
    to.blankPen()
    const columns = Array.from({ length: cols }, (_, column) => column)
    if (columns.some((column) => (tabs[column] === true) !== (column % 8 === 0))) {
      to.add('\x1b[3g')
      for (const column of columns) if (tabs[column]) to.add(`\x1b[1;${column + 1}H\x1bH`)
    }
    const savedRow = Math.min(Math.max(savedY - ybase, 0), rows - 1)
    if (savedX !== 0 || savedY !== 0 || savedPen.fg !== 0 || savedPen.bg !== 0 || savedCharset) {
      to.add(`\x1b[${savedRow + 1};${Math.min(savedX, cols - 1) + 1}H`)
      if (savedCharset) to.add(`\x1b(${charsetFlag(savedCharset)}`)
      to.saveCursor(savedPen)
      if (savedCharset) to.add('\x1b(B')
      to.blankPen()
    }
    if (scrollTop !== 0 || scrollBottom !== rows - 1) to.add(`\x1b[${scrollTop + 1};${scrollBottom + 1}r`)
  }

  /** Writes everything else once both screens are written, the cursor last. */
  after(to: ScreenWriter): void {
    const { buffers, coreService, coreMouseService, options, _charsetService, _inputHandler: handler } = this.#core
    const { active } = buffers
    const { modes, decPrivateModes: dec } = coreService
    const { charset, glevel, _charsets: sets } = _charsetService
    const on = [
      dec.applicationCursorKeys && 1,
      dec.reverseWraparound && 45,
      dec.applicationKeypad && 66,
      mouseModes[coreMouseService.activeProtocol],
      mouseEncodings[coreMouseService.activeEncoding],
      dec.sendFocus && 1004,
      dec.bracketedPasteMode && 2004,
      dec.origin && 6,
    ].filter((mode) => typeof mode === 'number')
    if (on.length > 0) to.add(`\x1b[?${on.join(';')}h`)
    // Synchronized output (?2026) is omitted: its end may never come, and the page would stay blank.
    to.add(`\x1b[?25${coreService.isCursorHidden ? 'l' : 'h'}`)
    if (dec.cursorStyle) {
      const style = { block: 2, underline: 4, bar: 6 }[dec.cursorStyle]
      to.add(`\x1b[${dec.cursorBlink ? style - 1 : style} q`)
    }
    // Restoring a cursor restores its character set, which may no longer be one of the four.
    const hasSavedSet = charset !== sets[glevel] && charset === active.savedCharset
    if (!hasSavedSet) to.cursor(active, dec.origin)
    for (const [index, intermediate] of intermediates.entries())
      if (sets[index]) to.add(`\x1b${intermediate}${charsetFlag(sets[index])}`)
    if (glevel !== 0) to.add(['', '\x0e', '\x1bn', '\x1bo'][glevel] ?? '')
    if (hasSavedSet) {
      to.add('\x1b8')
      to.forgetPen()
      to.cursor(active, dec.origin)
    } else if (charset !== sets[glevel]) to.add(`\x1b${intermediates[glevel]}${charsetFlag(charset)}`)
    if (!dec.wraparound) to.add('\x1b[?7l')
    if (modes.insertMode) to.add('\x1b[4h')
    if (options.convertEol) to.add('\x1b[20h')
    to.pen(handler._curAttrData)
    if (handler._parser.precedingJoinState !== 0) to.again(active, dec.origin, modes.insertMode)
    // NUL has no effect and prevents the next character from joining.
    else to.add('\0')
  }

  /** Takes over an OSC code from xterm and drops payloads that are too long. */
  #take(code: number, handle: (data: string) => void): void {
    this.#core._inputHandler._parser.clearOscHandler(code)
    readOsc(this.#core, code, maxPayload, (data, isWhole) => {
      if (isWhole) handle(data)
    })
  }

  #setPalette(data: string): void {
    const parts = data.split(';')
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const index = parts[at] ?? ''
      const color = parts[at + 1] ?? ''
      if (/^\d{1,3}$/.test(index) && Number(index) < 256 && isColor(color)) this.#palette.set(Number(index), color)
    }
  }

  #resetPalette(data: string): void {
    const indexes = data === '' ? [...this.#palette.keys()].filter((index) => index < 256) : data.split(';').map(Number)
    for (const index of indexes) if (index < 256) this.#palette.delete(index)
  }

  /** One sequence may hold several colors, for consecutive special entries. */
  #setSpecialColors(data: string, first: number): void {
    for (const [offset, color] of data.split(';').entries())
      if (first + offset < 3 && isColor(color)) this.#palette.set(256 + first + offset, color)
  }

  #setFolder(address: string): void {
    if (address === '' || reportedFolder(address) !== undefined) this.#folder = address
  }

  /** Replaces xterm's link handling, which moves a marker per line of each link with every scrolled line. */
  #setLink(data: string): void {
    const { _curAttrData: pen } = this.#core._inputHandler
    const separator = data.indexOf(';')
    if (separator < 0) return
    const uri = data.slice(separator + 1)
    const name = data
      .slice(0, separator)
      .split(':')
      .find((each) => each.startsWith('id=') && each !== 'id=')
    if (uri === '' && data.slice(0, separator).trim() !== '') return
    pen.extended = pen.extended.clone()
    pen.extended.urlId = uri === '' ? 0 : this.#linkId(name ?? '', uri)
    pen.updateExtended()
  }

  #linkId(parameters: string, uri: string): number {
    const key = `${parameters};${uri}`
    const known = this.#linkIds.get(key)
    if (known !== undefined) return known
    if (this.#links.size >= maxLinks || this.#linkCharacters + key.length > maxLinkCharacters) this.#forgetLinks()
    if (this.#links.size >= maxLinks || this.#linkCharacters + key.length > maxLinkCharacters) return 0
    const id = ++this.#lastLink
    this.#links.set(id, { key, parameters, uri })
    this.#linkIds.set(key, id)
    this.#linkCharacters += key.length
    return id
  }

  /** Drops links that are no longer on any line, or all of them if most are still visible. */
  #forgetLinks(): void {
    const used = new Set<number>()
    for (const { lines } of [this.#core.buffers.normal, this.#core.buffers.alt])
      for (let at = 0; at < lines.length; at++)
        for (const extended of Object.values(lines.get(at)?._extendedAttrs ?? {}))
          if (extended) used.add(extended.urlId)
    const forgetAll = used.size > this.#links.size / 2
    for (const [id, { key }] of this.#links)
      if (forgetAll || !used.has(id)) {
        this.#links.delete(id)
        this.#linkIds.delete(key)
        this.#linkCharacters -= key.length
      }
  }
}

/** Intermediate bytes of the sequences that designate G0 to G3. */
const intermediates = ['(', ')', '*', '+']

const mouseModes: Record<string, number> = { X10: 9, VT200: 1000, DRAG: 1002, ANY: 1003 }
const mouseEncodings: Record<string, number> = { SGR: 1006, SGR_PIXELS: 1016 }

const isColor = (text: string): boolean =>
  /^(rgb:([\da-f]{1,4})\/[\da-f]{1,4}\/[\da-f]{1,4}|#([\da-f]{3}|[\da-f]{6}|[\da-f]{9}|[\da-f]{12}))$/i.test(text)

/** One line without control or bidirectional characters. */
const title = (text: string): string => [...text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')].slice(0, maxTitle).join('')
