import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('takes a variable out of what /proc shows, and leaves the others', () => {
  const script = `
    const { takeVariable } = await import(${JSON.stringify(join(import.meta.dirname, 'take-variable.ts'))})
    const { readFileSync } = await import('node:fs')
    const taken = [takeVariable('SECRET'), takeVariable('SECRET'), process.env.SECRET]
    console.log(JSON.stringify([taken, readFileSync('/proc/self/environ', 'latin1').split('\\0').filter(Boolean)]))`
  const env = { BEFORE: '1', SECRET: 'swordfish', SECRETS: '2', NODE_ENV: 'test' as const }
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual([
    ['swordfish', null, null],
    ['BEFORE=1', 'SECRETS=2', 'NODE_ENV=test'],
  ])
})
