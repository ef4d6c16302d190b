import { expect, it } from 'vitest'
import { downloadName } from './file-download.ts'

it('names a download after the file, without deceptive characters', () => {
  expect(['/srv/app/report.pdf', '~/a b.txt', 'a/b/', '/'].map(downloadName)).toEqual([
    'report.pdf',
    'a b.txt',
    'b',
    'file',
  ])
  expect(downloadName('/tmp/a\u202egpj.exe')).toBe('a_gpj.exe')
  expect(downloadName('/tmp/..\\..\\x\n:y')).toBe('.._.._x__y')
})
