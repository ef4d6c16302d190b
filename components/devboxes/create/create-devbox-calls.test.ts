import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { createDevboxCurl, createDevboxTypeScript } from './create-devbox-calls.ts'

const body = { name: "it's", launch_parameters: { launch_commands: ["echo '$HOME' `id`"] } }

it('gives a shell the body as it is, whatever quotes it has', () => {
  const script = `curl() { for word; do last=$word; done; printf %s "$last"; }\n${createDevboxCurl(body, 'http://h')}`
  expect(JSON.parse(execFileSync('bash', ['-c', script], { encoding: 'utf8' }))).toEqual(body)
})

it('gives the public client the same body', () => {
  const [, call = ''] =
    /createAndAwaitRunning\(([\s\S]*)\)\nconsole/.exec(createDevboxTypeScript(body, 'http://h')) ?? []
  expect(JSON.parse(call)).toEqual(body)
})
