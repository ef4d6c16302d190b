import { afterEach, describe, expect, it, vi } from 'vitest'
import { openXterm } from '#lib/terminal/xterm/headless.ts'
import { TerminalMirror, type TerminalSnapshot } from './mirror.ts'
import { PlainTerminal } from './testing-plain-terminal.ts'

const mirrors: TerminalMirror[] = []
afterEach(() => {
  for (const mirror of mirrors.splice(0)) mirror.dispose()
})

const open = ({ cols = 30, rows = 8, scrollback = 100 } = {}) => {
  const answers: string[] = []
  const failures: unknown[] = []
  const mirror = new TerminalMirror({
    cols,
    rows,
    scrollback,
    answer: (bytes) => answers.push(bytes),
    failed: (error) => failures.push(error),
  })
  mirrors.push(mirror)
  const write = (printed: string | Uint8Array) => mirror.write(Buffer.from(printed))
  const snapshot = (lines = 1000) => new Promise<TerminalSnapshot>((done) => mirror.snapshot(lines, done))
  const shown = async () => {
    const { bytes, ...size } = await snapshot()
    return new PlainTerminal(size.cols, size.rows, scrollback).feed(bytes).look
  }
  const marks = async (lines = 1000) =>
    (await snapshot(lines)).marks.map(({ line, column, kind, exit_code }) => [line, column, kind, exit_code])
  return { mirror, write, snapshot, shown, marks, answers, failures }
}

describe('written output', () => {
  it('is parsed in order with resizes and snapshots, and reported when done', async () => {
    const { mirror } = open()
    const order: string[] = []
    mirror.write(Buffer.from('left'), () => order.push('left parsed'))
    mirror.resize(40, 10)
    mirror.snapshot(0, ({ cols, bytes }) => order.push(`${cols} wide, ${Buffer.from(bytes).includes('leftright')}`))
    mirror.write(Buffer.from('right'), () => order.push('right parsed'))
    mirror.resize(50, 12)
    await new Promise<void>((done) =>
      mirror.snapshot(0, ({ cols, bytes }) => {
        order.push(`${cols} wide, ${Buffer.from(bytes).includes('leftright')}`)
        done()
      }),
    )
    expect(order).toEqual(['left parsed', '40 wide, false', 'right parsed', '50 wide, true'])
  })

  it('may be cut in the middle of a character', async () => {
    const { write, shown } = open()
    for (const byte of Buffer.from('“words” — and 漢字…')) write(Buffer.from([byte]))
    expect((await shown()).join('\n')).toContain('“words” — and 漢字…')
  })
})

it('loses only its scrollback when that is cleared, with the saved cursor in place', async () => {
  const { mirror, write, snapshot, shown, marks } = open({ rows: 4 })
  write(`${'\x1b]133;A\x07old\r\n'.repeat(9)}\x1b]133;A\x07here\x1b7\x1b[?1047h\x1b[Hfull screen \x1b[3`)
  mirror.clearScrollback()
  expect((await marks()).map(([line]) => line)).toEqual([0, 1, 2, 3])
  // The clear doesn't end the sequence that had only begun.
  write('1mred\x1b[?1047l\x1b8<')
  expect((await shown()).join('\n')).toContain('here<')
  expect(
    Buffer.from((await snapshot()).bytes)
      .toString()
      .match(/old/g),
  ).toHaveLength(3)
})

describe('a query', () => {
  it.each([
    ['DA1', '\x1b[c', '\x1b[?1;2c'],
    ['DA2', '\x1b[>c', '\x1b[>0;276;0c'],
    ['DSR', '\x1b[5n', '\x1b[0n'],
    ['the place of the cursor', '\x1b[3;7H\x1b[6n', '\x1b[3;7R'],
    ['the place of the cursor (DECXCPR)', '\x1b[2;4H\x1b[?6n', '\x1b[?2;4R'],
    ['a mode', '\x1b[?2004h\x1b[?2004$p', '\x1b[?2004;1$y'],
    ['an ANSI mode', '\x1b[4$p', '\x1b[4;2$y'],
  ])('for %s is answered', async (_name, question, answer) => {
    const { write, snapshot, answers } = open()
    write(question)
    await snapshot()
    expect(answers).toEqual([answer])
  })

  it.each([
    ['a setting', '\x1bP$qm\x1b\\\x1bP$q q\x1b\\'],
    ['a capability', '\x1bP+q544e\x1b\\'],
    ['a color', '\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]12;?\x07'],
    ['the title', '\x1b]2;rm -rf .\x07\x1b[21t\x1b[20t'],
    ['the size of the window', '\x1b[14t\x1b[16t\x1b[18t'],
    ['the clipboard', '\x1b]52;c;?\x07'],
    ['the name and version', '\x1b[>q\x1b[=c'],
    ['something unknown', '\x1b[99n\x1b[?99n\x05'],
  ])('for %s is not answered: that might be typed into the shell', async (_name, question) => {
    const { write, snapshot, answers } = open()
    write(question)
    await snapshot()
    expect(answers).toEqual([])
  })

  it('is rate-limited', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const { write, snapshot, answers } = open()
      write('\x1b[6n'.repeat(50_000))
      await snapshot()
      expect(answers).toHaveLength(200)
      vi.advanceTimersByTime(100)
      write('\x1b[6n'.repeat(50_000))
      await snapshot()
      expect(answers).toHaveLength(220)
    } finally {
      vi.useRealTimers()
    }
  })

  it('does not appear in snapshots', async () => {
    const { write, snapshot } = open()
    write('text\x1b[6n\x1b[c\x1b]10;?\x07\x1bP$qm\x1b\\')
    const { bytes } = await snapshot()
    const page = new PlainTerminal(30, 8, 100)
    expect(page.answerTo(Buffer.from(bytes).toString())).toBe('')
  })
})

describe('command marks', () => {
  const _command = (exit: number) =>
    `\x1b]133;A\x07$ \x1b]133;B\x07make\r\n\x1b]133;C\x07output\r\n\x1b]133;D;${exit}\x07`

  it('count lines from the start of the snapshot and scroll out with their lines', async () => {
    const { write, marks } = open({ rows: 4, scrollback: 6 })
    for (let number = 0; number < 20; number++) write(`\x1b]133;A\x07line ${number}\r\n`)
    expect((await marks()).map(([line]) => line)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect((await marks(2)).map(([line]) => line)).toEqual([0, 1, 2, 3, 4])
  })

  it('stay with their lines when the width changes', async () => {
    const { mirror, write, marks } = open({ cols: 40, rows: 10 })
    write(`${'long '.repeat(14)}\r\n\x1b]133;A\x07$ here\r\nnext`)
    expect(await marks()).toEqual([[2, 0, 'prompt', undefined]])
    mirror.resize(20, 10)
    expect(await marks()).toEqual([[4, 0, 'prompt', undefined]])
    mirror.resize(80, 10)
    expect(await marks()).toEqual([[1, 0, 'prompt', undefined]])
  })

  it('move with inserted and deleted lines', async () => {
    const { write, marks } = open()
    write('\r\n\r\n\x1b]133;A\x07three\r\n\x1b]133;A\x07four\x1b[1;1H\x1b[2L')
    expect((await marks()).map(([line]) => line)).toEqual([4, 5])
    write('\x1b[1;1H\x1b[5M')
    expect((await marks()).map(([line]) => line)).toEqual([0])
  })

  it('disappear when the screen is cleared', async () => {
    const { write, marks } = open({ rows: 4 })
    write(`${'\x1b]133;A\x07$\r\n'.repeat(6)}\x1b[H\x1b[2J`)
    expect((await marks()).map(([line]) => line)).toEqual([0, 1, 2])
    write('\x1b[3J')
    expect(await marks()).toEqual([])
  })

  it('ignore the alternate screen and disappear on reset', async () => {
    const { write, marks } = open()
    write('\x1b[?1049h\x1b]133;C\x07\x1b[?1049l')
    expect(await marks()).toEqual([])
    write('\x1b]133;A\x07\x1bc')
    expect(await marks()).toEqual([])
    write('\r\n\x1b]133;A\x07')
    expect(await marks()).toEqual([[1, 0, 'prompt', undefined]])
  })
})

it('removes control and bidirectional characters from titles and limits their length', async () => {
  const { mirror, write, snapshot } = open()
  write(`\x1b]2;a\u202eb\u2066c${'é'.repeat(3000)}\x07`)
  await snapshot()
  expect(mirror.title).toBe(`abc${'é'.repeat(197)}`)
})

describe('hostile output', () => {
  it.each([...'ABCDEFGHIJKLMPSTXZ@`abdefghlmnqrstu'])('continues after the largest counts of CSI %s', async (final) => {
    const { write, shown, failures } = open({ cols: 200, rows: 100 })
    write(`x\x1b[2147483647;2147483647${final}\x1b[99999999999999999999;1;1;1;1;1${final}\x1b[?9${final}\x1bc\x1b[Hend`)
    expect((await shown()).join('\n')).toContain('end')
    expect(failures).toEqual([])
  })

  it('yields between expensive sequences', async () => {
    const { write, snapshot } = open({ cols: 1000, rows: 1000 })
    let turns = 0
    const turn = () => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    // 4 bytes that touch a million cells.
    write('\x1b[2J'.repeat(150))
    await snapshot(0)
    clearImmediate(next)
    expect(turns).toBeGreaterThan(2)
  })

  it('drops unterminated strings and keeps what follows', async () => {
    const { mirror, write, shown } = open()
    for (const begin of ['\x1b]2;', '\x1b]8;;', '\x1b]133;', '\x1b]4;', '\x1bP', '\x1b_', '\x1b]9999999999999;']) {
      write(begin)
      for (let part = 0; part < 30; part++) write(Buffer.alloc(100_000, '1'))
      write('\x1b\\')
    }
    write('end')
    expect((await shown()).join('\n')).toContain('end')
    expect(mirror.title).toBe('')
  })

  it('keeps visible links when there are too many', async () => {
    const { write, shown } = open({ rows: 3, scrollback: 10 })
    for (let number = 0; number < 30_000; number++) write(`\x1b]8;;http://e.x/${number}\x07link\x1b]8;;\x07\r\n`)
    expect((await shown()).join('\n')).toContain('http://e.x/29999')
  })

  it('reports parser failures and continues with an empty screen', async () => {
    const { mirror, write, snapshot, failures } = open()
    const probe = openXterm({ cols: 2, rows: 1, scrollback: 0 })
    const xterm = Object.getPrototypeOf(probe._inputHandler)
    const { insertChars } = xterm
    probe.dispose()
    try {
      // Simulates a parser bug; no real one is known.
      xterm.insertChars = () => {
        throw new Error('no such line')
      }
      mirror.resize(40, 10)
      write('before\x1b]2;title\x07\x1b[@')
      write('after')
      const { bytes, cols, rows } = await snapshot()
      expect(failures).toEqual([new Error('no such line')])
      expect([cols, rows, mirror.title]).toEqual([40, 10, ''])
      expect(Buffer.from(bytes).toString()).toContain('after')
      expect(Buffer.from(bytes).toString()).not.toContain('before')
    } finally {
      xterm.insertChars = insertChars
    }
  })
})
