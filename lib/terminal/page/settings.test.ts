import { describe, expect, it } from 'vitest'
import { defaultTerminalSettings, numberProblem, readTerminalSettings, terminalLimits } from './settings.ts'

describe('stored settings', () => {
  it('are read field by field; invalid fields use their defaults', () => {
    const stored = { version: 1, fontSize: 18, lineHeight: 'huge', bell: 'gong', theme: 'dark', scrollback: 1e9, x: 1 }
    expect(readTerminalSettings(() => JSON.stringify(stored))).toEqual({
      ...defaultTerminalSettings,
      fontSize: 18,
      theme: 'dark',
    })
  })

  it.each([null, '', 'null', '[]', '"text"', '12', '{"fontSize":', '{"fontSize":null}'])('may be %j', (stored) => {
    expect(readTerminalSettings(() => stored)).toEqual(defaultTerminalSettings)
  })

  it('cannot inject styles through a font name', () => {
    for (const fontFamily of ['x; } body { display: none', '"', 'a\\', 'url(http://x)', 'a,b', '</style>'])
      expect(readTerminalSettings(() => JSON.stringify({ fontFamily })).fontFamily).toBe('')
    expect(readTerminalSettings(() => '{"fontFamily":"Iosevka Term SS04"}').fontFamily).toBe('Iosevka Term SS04')
  })
})

it('explains an invalid number', () => {
  const { fontSize, scrollback, lineHeight } = terminalLimits
  expect(numberProblem('13', fontSize)).toBeNull()
  expect(numberProblem('1,4', lineHeight)).toBeNull()
  for (const text of ['', '  ', 'x', '1e999', '--1']) expect(numberProblem(text, fontSize)).toMatch(/^Enter a number/)
  expect(numberProblem('7', fontSize)).toBe('Must be between 8 and 32')
  expect(numberProblem('1500.5', scrollback, true)).toBe('Enter a whole number')
})
