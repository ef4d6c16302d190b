import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  defaultTerminalSettings,
  fontFamilyCss,
  numberProblem,
  readTerminalSettings,
  terminalLimits,
  terminalSettings,
} from './settings.ts'

describe('stored settings', () => {
  it('are read field by field; invalid fields use their defaults', () => {
    const stored = { version: 1, fontSize: 18, lineHeight: 'huge', bell: 'gong', theme: 'dark', scrollback: 1e9, x: 1 }
    expect(readTerminalSettings(JSON.stringify(stored))).toEqual({
      ...defaultTerminalSettings,
      fontSize: 18,
      theme: 'dark',
    })
  })

  it.each([null, '', 'null', '[]', '"text"', '12', '{"fontSize":', '{"fontSize":null}'])('may be %j', (stored) => {
    expect(readTerminalSettings(stored)).toEqual(defaultTerminalSettings)
  })

  it('cannot inject styles through a font name', () => {
    for (const fontFamily of ['x; } body { display: none', '"', 'a\\', 'url(http://x)', 'a,b', '</style>'])
      expect(readTerminalSettings(JSON.stringify({ fontFamily })).fontFamily).toBe('')
    expect(readTerminalSettings('{"fontFamily":"Iosevka Term SS04"}').fontFamily).toBe('Iosevka Term SS04')
  })
})

describe('the store', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    terminalSettings.reset()
  })

  it('notifies subscribers until they unsubscribe', () => {
    const seen: number[] = []
    const stop = terminalSettings.subscribe(() => seen.push(terminalSettings.get().fontSize))
    terminalSettings.change({ fontSize: 20 })
    stop()
    terminalSettings.change({ fontSize: 21 })
    expect(seen).toEqual([20])
    expect(terminalSettings.get()).toEqual({ ...defaultTerminalSettings, fontSize: 21 })
  })

  it('returns the same object until something changes', () => {
    expect(terminalSettings.get()).toBe(terminalSettings.get())
  })

  it('works without storage', () => {
    const refuse = () => {
      throw new DOMException('no', 'SecurityError')
    }
    vi.stubGlobal('localStorage', { getItem: refuse, setItem: refuse })
    terminalSettings.change({ bell: 'none' })
    expect(terminalSettings.get().bell).toBe('none')
  })

  it('writes a version and only known fields', () => {
    const kept = new Map<string, string>()
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
    })
    terminalSettings.change({ cursorStyle: 'bar', minimumContrast: 7 })
    const [text = ''] = kept.values()
    expect(JSON.parse(text).version).toBe(1)
    expect(readTerminalSettings(text)).toEqual(terminalSettings.get())
  })
})

it('keeps the default family as fallback', () => {
  expect(fontFamilyCss('', 'Geist Mono, monospace')).toBe('Geist Mono, monospace')
  expect(fontFamilyCss('Fira Code', 'Geist Mono, monospace')).toBe('"Fira Code", Geist Mono, monospace')
})

it('explains an invalid number', () => {
  const { fontSize, scrollback, lineHeight } = terminalLimits
  expect(numberProblem('13', fontSize)).toBeNull()
  expect(numberProblem('1,4', lineHeight)).toBeNull()
  for (const text of ['', '  ', 'x', '1e999', '--1']) expect(numberProblem(text, fontSize)).toMatch(/^Enter a number/)
  expect(numberProblem('7', fontSize)).toBe('Must be between 8 and 32')
  expect(numberProblem('1500.5', scrollback, true)).toBe('Enter a whole number')
})
