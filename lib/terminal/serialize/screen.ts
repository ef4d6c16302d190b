import type { Attributes, Core, Line, Screen } from '../xterm/internals.ts'

const wordsPerCell = 3
const codeMask = 0x1fffff
const combined = 0x200000
const contentMask = 0x3fffff
const widthShift = 22
const colorMode = 0x3000000
const color = 0x3ffffff
const indexed16 = 0x1000000
const indexed256 = 0x2000000
const rgb = 0x3000000
const inverse = 0x4000000
const underline = 0x10000000
const strikethrough = 0x80000000
const extendedFlag = 0x10000000
const protectedFlag = 0x20000000
const overline = 0x40000000

export type LinkOf = (id: number) => { parameters: string; uri: string } | undefined

/** Reproduces a screen on a freshly reset terminal. Wrapped lines stay wrapped, so they reflow. */
export class ScreenWriter {
  readonly #core: Core
  readonly #linkOf: LinkOf
  #bytes = Buffer.allocUnsafe(64 * 1024)
  #length = 0
  #fg = 0
  #bg = 0
  #ext = 0
  #link = 0
  /** xterm's packed join state for the next character; 0 if it can't join the last one. */
  #joinState = 0

  constructor(core: Core, linkOf: LinkOf) {
    this.#core = core
    this.#linkOf = linkOf
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  add(text: string): void {
    this.#reserve(text.length * 3)
    this.#length += this.#bytes.write(text, this.#length)
    this.#joinState = 0
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Writes all lines from `from` on. Expects the cursor at the start of the first line. */
  screen({ lines }: Screen, from: number): void {
    const { cols } = this.#core
    let isAtEdge = false
    let previous: Line | undefined
    for (let at = from; at < lines.length; at++) {
      const line = lines.get(at)
      if (!line) continue
      let hasStray = false
      let under = 0
      if (previous && !line.isWrapped) {
        // Lines that scroll in take the pen's background.
        if (this.#bg & color) this.#pen(0, 0, 0, this.#link)
        this.add('\r\n')
      } else if (previous && (!isAtEdge || isBlank(line, 0))) {
        hasStray = true
        this.blankPen()
        if (isAtEdge) this.add(' \r')
        else this.#forceWrap(previous)
      } else if (previous) under = attributesAt(line, 0).bg & color
      const next = lines.get(at + 1)
      isAtEdge = this.#line(line, hasStray, under, next?.isWrapped === true && wrapsWide(line, next, cols))
      previous = line
    }
  }

  /** Moves the cursor to its cell, or to the pending-wrap position past the last column. */
  cursor(screen: Screen, hasOrigin: boolean): void {
    const { x, y, lines, ybase } = screen
    const { cols } = this.#core
    if (x < cols) {
      this.#moveTo(screen, x, hasOrigin)
      return
    }
    const line = lines.get(ybase + y)
    const start = cols - (line && isWide(line, cols - 2) ? 2 : 1)
    this.#moveTo(screen, start, hasOrigin)
    if (!line) return
    const { fg, bg, extended } = attributesAt(line, start)
    this.#pen(fg, bg, extended?._ext ?? 0, extended?.urlId ?? 0)
    this.add(charactersAt(line, start))
  }

  /** Reprints the character before the cursor, so that combining or repeating works. */
  again(screen: Screen, hasOrigin: boolean, hasInsert: boolean): void {
    const { x, y, lines, ybase } = screen
    const line = lines.get(ybase + y)
    const width = line && isWide(line, x - 2) ? 2 : 1
    const last = x - width
    // Without wrapping, the cursor can be on the second half of a wide character.
    if (!line || last < 0 || contentAt(line, last) === 0 || widthAt(line, last) !== width) return
    this.#moveTo(screen, last, hasOrigin)
    if (hasInsert) this.add(`\x1b[${width}P`)
    this.add(charactersAt(line, last))
  }

  pen({ fg, bg, extended }: Attributes): void {
    // Restoring the cursor clears the pen's link.
    this.#pen(fg, bg, extended._ext, bg & extendedFlag ? extended.urlId : 0)
    // The pen keeps its underline color while underlining is off.
    if (extended._ext & colorMode && !(fg & underline)) this.add(`\x1b[${colorCode(extended._ext & color, 58)}m`)
  }

  /** Saves the cursor with this pen. Links and underline styles are only kept as present or absent. */
  saveCursor({ fg, bg }: { fg: number; bg: number }): void {
    this.#pen(fg, bg & ~extendedFlag, 0, 0)
    const hasLink = (bg & extendedFlag) !== 0 && (fg & underline) === 0
    this.add(hasLink ? '\x1b]8;;.\x1b\\\x1b7\x1b]8;;\x1b\\' : '\x1b7')
  }

  blankPen(): void {
    this.#pen(0, 0, 0, 0)
  }

  forgetPen(): void {
    this.add('\x1b[m')
    this.#fg = 0
    this.#bg = 0
    this.#ext = 0
  }

  #moveTo({ y, scrollTop }: Screen, x: number, hasOrigin: boolean): void {
    this.add(`\x1b[${y - (hasOrigin ? scrollTop : 0) + 1};${x + 1}H`)
  }

  /** Returns true if the cursor is now pending wrap. The line may have scrolled in with background `under`. */
  #line(line: Line, hasStray: boolean, under: number, leavesLast: boolean): boolean {
    const { _data: data } = line
    const { cols } = this.#core
    const end = leavesLast ? cols - 1 : cols
    let isAtEdge = leavesLast
    let at = 0
    while (at < end) {
      const word = data[at * wordsPerCell] ?? 0
      if ((word & contentMask) === 0 && isBlank(line, at)) {
        const first = at
        const fill = (data[at * wordsPerCell + 2] ?? 0) & color
        do at++
        while (at < end && ((data[at * wordsPerCell + 2] ?? 0) & color) === fill && isBlank(line, at))
        if (fill !== 0 || under !== 0 || (hasStray && first === 0)) {
          this.#pen(0, fill, 0, 0)
          this.add(`\x1b[${fill === 0 && under === 0 ? 1 : at - first}X`)
        }
        if (at < end || leavesLast) this.add(`\x1b[${at - first}C`)
        continue
      }
      const fg = data[at * wordsPerCell + 1] ?? 0
      const bg = data[at * wordsPerCell + 2] ?? 0
      if (bg & extendedFlag) {
        const extended = line._extendedAttrs[at]
        this.#pen(fg, bg, extended?._ext ?? 0, extended?.urlId ?? 0)
      } else if (fg !== this.#fg || bg !== this.#bg) this.#pen(fg, bg, 0, 0)
      if (word & combined) {
        let isFirst = true
        for (const character of line._combined[at] ?? ' ') {
          this.#print(character.codePointAt(0) ?? 0x20, isFirst)
          isFirst = false
        }
      } else this.#print(word & codeMask || 0x20, true)
      at += word >>> widthShift === 2 ? 2 : 1
      isAtEdge ||= at >= cols
    }
    return isAtEdge
  }

  /** Prints a character. The first character of a cell must not join the previous cell. */
  #print(code: number, isFirst: boolean): void {
    this.#reserve(5)
    let state = this.#joined(code)
    if (isFirst && state & 1) {
      // NUL has no effect and ends a possible join.
      this.#bytes[this.#length++] = 0
      this.#joinState = 0
      state = this.#joined(code)
    }
    this.#joinState = state
    if (code < 0x80) this.#bytes[this.#length++] = code
    else this.#length += this.#bytes.write(String.fromCodePoint(code), this.#length)
  }

  #joined(code: number): number {
    // Shortcut for nearly all text: narrow, joins nothing.
    if (code < 0x7f && this.#joinState >> 3 === 0) return plain
    return this.#core.unicodeService.charProperties(code, this.#joinState)
  }

  /** Wraps a line that doesn't reach the edge; the next one then starts with a space. */
  #forceWrap(previous: Line): void {
    const { cols } = this.#core
    this.add(`\x1b[${cols}G  \x1b[A\x1b[${cols}G`)
    this.#pen(0, attributesAt(previous, cols - 1).bg & color, 0, 0)
    this.add('\x1b[X\x1b[B\r')
  }

  #pen(foreground: number, background: number, ext: number, urlId: number): void {
    // The strikethrough bit makes some values negative.
    const fg = foreground >>> 0
    const bg = background >>> 0
    if (urlId !== this.#link) {
      const link = urlId === 0 ? undefined : this.#linkOf(urlId)
      this.add(link ? `\x1b]8;${link.parameters};${link.uri}\x1b\\` : '\x1b]8;;\x1b\\')
      this.#link = urlId
    }
    if (fg === this.#fg && bg === this.#bg && ext === this.#ext) return
    this.add(renditions(fg, bg, ext))
    this.#fg = fg
    this.#bg = bg
    this.#ext = ext
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + count))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** xterm's packed properties of a narrow character outside a cluster. */
const plain = 1 << 1

const contentAt = (line: Line, at: number): number => (line._data[at * wordsPerCell] ?? 0) & contentMask
const widthAt = (line: Line, at: number): number => (line._data[at * wordsPerCell] ?? 0) >>> widthShift

const attributesAt = (line: Line, at: number) => {
  const bg = line._data[at * wordsPerCell + 2] ?? 0
  return {
    fg: line._data[at * wordsPerCell + 1] ?? 0,
    bg,
    extended: bg & extendedFlag ? line._extendedAttrs[at] : undefined,
  }
}

const charactersAt = (line: Line, at: number): string => {
  const word = line._data[at * wordsPerCell] ?? 0
  if (word & combined) return line._combined[at] ?? ' '
  return String.fromCodePoint(word & codeMask || 0x20)
}

const isBlank = (line: Line, at: number): boolean => contentAt(line, at) === 0 && !showsOnBlank(attributesAt(line, at))

/** A cell without a character still shows underlines, links or inverse colors. */
const showsOnBlank = ({ fg, bg, extended }: ReturnType<typeof attributesAt>): boolean =>
  (fg & (inverse | underline | strikethrough)) !== 0 || (bg & (overline | protectedFlag)) !== 0 || !!extended?.urlId

const isWide = (line: Line, at: number): boolean => at >= 0 && widthAt(line, at) === 2 && widthAt(line, at + 1) === 0

/** A wide character that didn't fit the last column leaves the same gap when reprinted. */
const wrapsWide = (line: Line, next: Line, cols: number): boolean => {
  if (!isWide(next, 0) || widthAt(line, cols - 1) !== 1 || !isBlank(line, cols - 1)) return false
  const wide = attributesAt(next, 0)
  return (attributesAt(line, cols - 1).bg & color) === (wide.bg & color) && !showsOnBlank(wide)
}

/** Full SGR sequence after a reset. Writing only changes would be longer, since most text returns to plain. */
const renditions = (fg: number, bg: number, ext: number): string => {
  let codes = '0'
  if (fg & 0x8000000) codes += ';1'
  if (bg & 0x8000000) codes += ';2'
  if (bg & 0x4000000) codes += ';3'
  if (fg & underline) {
    const style = (ext >>> 26) & 7
    if (!(bg & extendedFlag)) codes += ';4'
    else if (style !== 0) codes += style === 1 ? ';4' : `;4:${style}`
    if (ext & colorMode) codes += `;${colorCode(ext & color, 58)}`
  }
  if (fg & 0x20000000) codes += ';5'
  if (fg & inverse) codes += ';7'
  if (fg & 0x40000000) codes += ';8'
  if (fg & strikethrough) codes += ';9'
  if (bg & overline) codes += ';53'
  if (fg & colorMode) codes += `;${colorCode(fg & color, 38)}`
  if (bg & colorMode) codes += `;${colorCode(bg & color, 48)}`
  // Must follow the reset, which also ends protection in xterm.
  return `\x1b[${codes}m${bg & protectedFlag ? '\x1b[1"q' : ''}`
}

const colorCode = (value: number, base: 38 | 48 | 58): string => {
  const mode = value & colorMode
  if (mode === rgb) return `${base};2;${(value >> 16) & 255};${(value >> 8) & 255};${value & 255}`
  const index = value & 255
  if (mode === indexed16 && base !== 58) return `${index < 8 ? base - 8 + index : base + 52 + index - 8}`
  return mode === indexed256 || mode === indexed16 ? `${base};5;${index}` : `${base + 1}`
}
