import { expect, it } from 'vitest'
import { pathOf } from './request-log.ts'

it.each([
  ['/devboxes/dbx_1?search=secret', '/devboxes/dbx_1'],
  ['/sign-in/abc123', '/sign-in/:token'],
  ['/sign-in/sso/callback?code=abc', '/sign-in/:token/callback'],
  ['/s/abc/report.html', '/s/:token/report.html'],
  ['/follow/abc', '/follow/:token'],
  ['/api/follow/abc/events', '/api/follow/:token/events'],
  ['/snapshots', '/snapshots'],
])('%s is logged as %s', (url, path) => {
  expect(pathOf(url)).toBe(path)
})
