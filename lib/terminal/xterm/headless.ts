import graphemes from '@xterm/addon-unicode-graphemes'
import headless from '@xterm/headless'
import { boundClusters } from './clusters.ts'
import { boundCounts } from './counts.ts'
import { mendXterm } from './mends.ts'

/**
 * The parts of xterm that its interface does not show and an exact copy of its state needs. They are those of the one
 * version that package.json names; `openXterm` fails at once should another lack any.
 */

/** Of a cell, of the pen, or of a saved cursor: colours and flags as xterm packs them. */
export interface Attributes {
  fg: number
  bg: number
  extended: ExtendedAttributes
}

export interface ExtendedAttributes {
  _ext: number
  urlId: number
  clone(): ExtendedAttributes
}

/** Three numbers a cell: content, foreground, background. */
export interface Line {
  _data: Uint32Array
  _combined: Record<number, string>
  _extendedAttrs: Record<number, ExtendedAttributes | undefined>
  isWrapped: boolean
  length: number
}

type Listen<T> = (listener: (event: T) => void) => { dispose(): void }

export interface Lines {
  length: number
  maxLength: number
  get(index: number): Line | undefined
  onTrim: Listen<number>
  onInsert: Listen<{ index: number; amount: number }>
  onDelete: Listen<{ index: number; amount: number }>
}

export type Charset = Record<string, string> | undefined

export interface Screen {
  lines: Lines
  x: number
  y: number
  ybase: number
  scrollTop: number
  scrollBottom: number
  tabs: Record<number, boolean | undefined>
  savedX: number
  savedY: number
  savedCurAttrData: { fg: number; bg: number }
  savedCharset: Charset
}

interface Params {
  params: Int32Array
  length: number
}

export interface OscHandler {
  start(): void
  put(data: Uint32Array, start: number, end: number): void
  end(isComplete: boolean): boolean
}

interface Parser {
  currentState: number
  precedingJoinState: number
  reset(): void
  clearOscHandler(code: number): void
  registerOscHandler(code: number, handler: OscHandler): void
  clearDcsHandler(id: { intermediates?: string; final: string }): void
}

export interface Core {
  cols: number
  rows: number
  buffers: { normal: Screen; alt: Screen; active: Screen }
  options: { scrollback: number; convertEol: boolean }
  coreService: {
    modes: { insertMode: boolean }
    decPrivateModes: {
      applicationCursorKeys: boolean
      applicationKeypad: boolean
      bracketedPasteMode: boolean
      cursorBlink: boolean | undefined
      cursorStyle: 'block' | 'underline' | 'bar' | undefined
      origin: boolean
      reverseWraparound: boolean
      sendFocus: boolean
      wraparound: boolean
    }
    isCursorHidden: boolean
  }
  coreMouseService: { activeProtocol: string; activeEncoding: string }
  unicodeService: { charProperties(code: number, preceding: number): number }
  _charsetService: { charset: Charset; glevel: number; _charsets: Charset[] }
  _inputHandler: {
    _parser: Parser
    _curAttrData: Attributes & { updateExtended(): void }
    _windowTitle: string
    _iconName: string
    _windowTitleStack: string[]
    _iconNameStack: string[]
    setTitle(text: string): void
    setIconName(text: string): void
    /** Parses at once and to the end; `Terminal.write` would do so some time later. */
    parse(data: Uint8Array): void
    registerCsiHandler(
      id: { prefix?: string; intermediates?: string; final: string },
      handler: (params: Params) => boolean,
    ): void
  }
  onData: Listen<string>
  resize(cols: number, rows: number): void
  dispose(): void
}

interface Size {
  cols: number
  rows: number
}

/** As the pages set theirs up where it shows: same widths of characters, same title stack. */
export const openXterm = ({ cols, rows, scrollback }: Size & { scrollback: number }): Core => {
  const terminal = new headless.Terminal({
    cols,
    rows,
    scrollback,
    allowProposedApi: true,
    // What a shell prints would otherwise get into the log, at the speed of a flood.
    logLevel: 'off',
    windowOptions: { pushTitle: true, popTitle: true },
  })
  boundCounts(terminal)
  mendXterm(terminal)
  terminal.loadAddon(new graphemes.UnicodeGraphemesAddon() as never)
  boundClusters(terminal)
  const core = (terminal as unknown as { _core: Core })._core
  const parts = [
    core?.buffers?.normal?.lines?.get(0)?._data,
    core?.coreService?.decPrivateModes,
    core?.coreMouseService?.activeEncoding,
    core?.unicodeService?.charProperties,
    core?._charsetService?._charsets,
    core?._inputHandler?.parse,
    core?._inputHandler?._windowTitleStack,
    core?._inputHandler?._curAttrData?.extended?._ext,
    core?._inputHandler?._parser?.clearOscHandler,
    core?._inputHandler?._parser?.precedingJoinState,
  ]
  if (parts.includes(undefined)) throw new Error('This version of @xterm/headless is built in another way')
  return core
}

let flags: Map<Charset, string> | undefined

/** By which letter a program chose a set of characters: xterm keeps only the set. */
export const charsetFlag = (charset: Charset): string => {
  if (!flags) {
    flags = new Map()
    const probe = openXterm({ cols: 2, rows: 1, scrollback: 0 })
    for (const flag of ['0', 'A', '4', '5', 'R', 'Q', 'K', 'Y', '6', 'Z', '7', '=', 'B']) {
      probe._inputHandler.parse(Buffer.from(`\x1b(${flag}`))
      flags.set(probe._charsetService._charsets[0], flag)
    }
    probe.dispose()
  }
  return flags.get(charset) ?? 'B'
}
