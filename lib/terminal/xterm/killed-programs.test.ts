import { describe, expect, it } from 'vitest'
import { openXterm } from './headless.ts'

const esc = '\x1b'
const end = `${esc}]133;D;137\x07`
const prompt = `${esc}]133;A\x07`

const open = (...written: string[]) => {
  const core = openXterm({ cols: 40, rows: 6, scrollback: 10 })
  for (const text of written) core._inputHandler.parse(Buffer.from(text))
  const { buffers, coreService, coreMouseService } = core
  return {
    isOnOwnScreen: buffers.active === buffers.alt,
    mouse: [coreMouseService.activeProtocol, coreMouseService.activeEncoding],
    isCursorHidden: coreService.isCursorHidden,
    modes: coreService.decPrivateModes,
    hasInsert: coreService.modes.insertMode,
    region: [buffers.active.scrollTop, buffers.active.scrollBottom],
    lines: Array.from({ length: 6 }, (_, y) =>
      buffers.active.lines.get(buffers.active.ybase + y)?.translateToString(true),
    ),
    cursor: [buffers.active.x, buffers.active.y],
  }
}
const command = `$ python3 tui.py\r\n`
const plain = open(`${command}Killed\r\n${end}`)

describe('when the prompt returns', () => {
  it.each([
    ['mouse', '?1003;1006h'],
    ['mouse with old reports', '?1000h'],
    ['mouse by pixels', '?1002;1016h'],
    ['focus reports', '?1004h'],
    ['hidden cursor', '?25l'],
    ['application cursor keys', '?1h'],
    ['application keypad', '?66h'],
    ['origin', '?6h'],
    ['no wrapping', '?7l'],
    ['insertion', '4h'],
    ['scroll region', '2;4r'],
    ['held frame', '?2026;25l'],
  ])('a killed program leaves no %s', (_, sequence) => {
    const after = open(command, `${esc}7${esc}[${sequence}${esc}8`, 'Killed\r\n', end, prompt)
    expect({ ...after, lines: [], cursor: [] }).toEqual({ ...plain, lines: [], cursor: [] })
    expect(after.lines.filter(Boolean)).toEqual(['$ python3 tui.py', 'Killed'])
  })

  it("removes the screen of a killed program and keeps the shell's message (case 05)", () => {
    const tui = `${esc}[?1049h${esc}[?1003h${esc}[?1006h${esc}[?25l${esc}[?1h${esc}=RUNNING`
    const after = open(command, tui, 'Killed   python3 tui.py\r\n', end, prompt, '$ ')
    expect(after.lines.filter(Boolean)).toEqual(['$ python3 tui.py', 'RUNNINGKilled   python3 tui.py', '$ '])
    expect(after.isOnOwnScreen).toBe(false)
    expect([after.mouse, after.isCursorHidden, after.modes, after.cursor]).toEqual([
      plain.mouse,
      false,
      plain.modes,
      [2, 2],
    ])
  })

  it('also works if the mark is split across chunks', () => {
    for (let cut = 1; cut < end.length; cut++) {
      const after = open(`${esc}[?1049h${esc}[?1003h`, end.slice(0, cut), end.slice(cut))
      expect([cut, after.isOnOwnScreen, after.mouse[0]]).toEqual([cut, false, 'NONE'])
    }
  })
})

it('keeps modes set by a running program or by the line editor', () => {
  const running = open(`${esc}]133;C\x07${esc}[?1049h${esc}[?1003h${esc}[?25ltext`)
  expect(running).toMatchObject({ isOnOwnScreen: true, isCursorHidden: true, mouse: ['ANY', 'DEFAULT'] })
  const prompted = open(`${esc}[?2004h${esc}[?1h${esc}[5 q`, prompt, `${esc}]133;B\x07`)
  expect(prompted.modes).toMatchObject({ bracketedPasteMode: true, applicationCursorKeys: true, cursorStyle: 'bar' })
  expect(open(`${esc}[5 q${esc}[31mred`, end).modes.cursorStyle).toBe('bar')
})
