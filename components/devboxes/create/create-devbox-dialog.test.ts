import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { createDevboxSamples } from './create-devbox-dialog.tsx'

const body = { name: "it's", launch_parameters: { launch_commands: ["echo '$HOME' `id`"] } }

it('quotes the body for the shell', () => {
  const script = `curl() { for word; do last=$word; done; printf %s "$last"; }\n${createDevboxSamples(body, 'http://h').curl}`
  expect(JSON.parse(execFileSync('bash', ['-c', script], { encoding: 'utf8' }))).toEqual(body)
})

it('passes the same body to the public client', () => {
  const [, call = ''] =
    /createAndAwaitRunning\(([\s\S]*)\)\nconsole/.exec(createDevboxSamples(body, 'http://h').TypeScript) ?? []
  expect(JSON.parse(call)).toEqual(body)
})
