import { expect, it } from 'vitest'
import { commandMark, reportedFolder } from './osc.ts'

it('parses command marks and exit codes', () => {
  expect(['A', 'B;k=v', 'C', 'D'].map((data) => commandMark(data)?.kind)).toEqual([
    'prompt',
    'command',
    'output',
    'end',
  ])
  expect(commandMark('D;130;aid=1')).toEqual({ kind: 'end', exitCode: 130 })
  expect(commandMark('D;aid=1')).toEqual({ kind: 'end' })
  expect(['', 'E', 'AB', 'a'].map(commandMark)).toEqual(Array(4).fill(undefined))
})

it('parses the reported folder', () => {
  expect(reportedFolder('file://box/home/a%20b')).toBe('/home/a b')
  expect(reportedFolder('file:///100%')).toBe('/100%')
  expect(['', 'file://', '/home', 'http://x/y', 'file://h/a%00b'].map(reportedFolder)).toEqual(Array(5).fill(undefined))
})
