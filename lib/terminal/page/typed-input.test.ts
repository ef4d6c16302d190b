import { expect, it } from 'vitest'
import { keepInput, noUnsentInput, TypedInput, typedSigns } from './typed-input.ts'

const start = () => {
  let unsent = noUnsentInput
  let sent = ''
  let isOpen = true
  const input = new TypedInput({
    send: (bytes) => {
      if (isOpen) sent += new TextDecoder().decode(bytes)
      return isOpen
    },
    onUnsent: (now) => {
      unsent = now
    },
  })
  const opening = { mayType: true, isAnotherShell: false }
  const lose = () => {
    isOpen = false
    input.closed('lost')
  }
  const comeBack = (received: number | undefined, shellInput?: { shell: string; offset: number }) => {
    isOpen = true
    input.connected(received, shellInput)
    input.opened(opening)
  }
  comeBack(undefined)
  return { input, lose, comeBack, close: () => (isOpen = false), unsent: () => unsent, sent: () => sent }
}

it('offers only what did not arrive, before input typed later', () => {
  for (let received = 0; received <= 7; received++) {
    const { input, lose, comeBack, unsent, sent } = start()
    input.type('ab')
    input.report(Uint8Array.of(1, 2))
    input.type('cde')
    lose()
    input.keep('f')
    comeBack(received)
    const rest = ['abcdef', 'bcdef', 'cdef', 'cdef', 'cdef', 'def', 'ef', 'f'][received]
    expect([received, unsent()]).toEqual([received, { ...noUnsentInput, text: rest }])
    input.sendUnsent()
    expect(sent()).toBe(`ab\x01\x02cde${rest}`)
  }
})

it('waits for confirmation of received input', () => {
  const { input, lose, comeBack, unsent } = start()
  input.type('one ')
  input.type('two ')
  lose()
  comeBack(8)
  expect(unsent()).toEqual(noUnsentInput)
  input.confirmed(2)
  input.dropped(2, 4, false)
  input.dropped(4, 8, true)
  expect(unsent()).toEqual({ ...noUnsentInput, text: 'e two ', mayHaveArrived: true })
  // Confirmed and reported twice, as when both reports were on the way at the loss.
  input.confirmed(8)
  input.dropped(4, 8, true)
  expect(unsent().text).toBe('e two ')
})

it("uses the shell's count after a restart of the console", () => {
  for (const [offset, rest] of [
    [103, 'two\n'],
    [105, 'o\n'],
    [107, ''],
  ] as const) {
    const { input, lose, comeBack, unsent } = start()
    input.type('one')
    input.confirmed(3, { shell: 's', offset: 103 })
    input.type('two\n')
    lose()
    comeBack(undefined, { shell: 's', offset })
    expect(unsent()).toEqual({ ...noUnsentInput, text: rest })
    input.discardUnsent()
    input.type('more')
    lose()
    comeBack(undefined, { shell: 's', offset: offset + 4 })
    expect(unsent()).toEqual({ ...noUnsentInput, text: 'more', mayHaveArrived: true })
  }
})

it.each(['another shell', 'another writer'])('does not take the count of %s for its own', (what) => {
  const { input, lose, comeBack, unsent } = start()
  input.type('one')
  input.confirmed(3, { shell: 's', offset: 103 })
  if (what === 'another writer') input.watched()
  input.type('two')
  lose()
  comeBack(undefined, { shell: what === 'another shell' ? 't' : 's', offset: 106 })
  expect(unsent()).toEqual({ ...noUnsentInput, text: 'two', mayHaveArrived: true })
})

it('keeps a piece completely or not at all, and nothing after a dropped one', () => {
  const almost = keepInput(noUnsentInput, 'é'.repeat(511))
  expect(almost).toMatchObject({ isFull: false })
  const full = keepInput(almost, 'abc')
  expect(full).toEqual({ ...almost, isFull: true })
  expect(keepInput(full, 'x').text).toBe(almost.text)
})

it('has one symbol per key', () => {
  const shown = (text: string) => typedSigns(text).map(({ sign, isControl }) => (isControl ? `[${sign}]` : sign))
  expect(shown('ls\t-é\r')).toEqual(['l', 's', '[⇥]', '-', 'é', '[⏎]'])
  expect(shown('\x03\x1b[A\x7f')).toEqual(['[^C]', '[↑]', '[⌫]'])
  expect(shown('\x1b[1;5C\x1bb\x9b')).toEqual(['[Esc[1;5C]', '[Esc]', 'b', '[�]'])
  expect(shown('👩‍🔬e\u0301')).toEqual(['👩‍🔬', 'e\u0301'])
  expect(shown('')).toEqual([])
})
