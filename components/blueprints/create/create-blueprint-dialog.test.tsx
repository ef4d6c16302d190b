// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { AppRouterContext } from 'next/dist/shared/lib/app-router-context.shared-runtime'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CreateBlueprintDialog } from './create-blueprint-dialog.tsx'

let respond: (url: string) => Response
beforeEach(() => {
  respond = () => Response.json({ code: 'unavailable', message: 'down' }, { status: 503 })
  vi.stubGlobal('fetch', async (request: Request | string) =>
    respond(typeof request === 'string' ? request : request.url),
  )
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const open = () => {
  const push = vi.fn()
  const onOpenChange = vi.fn()
  render(
    <AppRouterContext value={{ push } as never}>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <CreateBlueprintDialog open onOpenChange={onOpenChange} />
      </QueryClientProvider>
    </AppRouterContext>,
  )
  return { push, onOpenChange, user: userEvent.setup() }
}
const nameField = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' })
const editor = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: /^Dockerfile/ })

it('shows a rejection at its field and line, keeps the input, and opens the log of what it created', async () => {
  const { push, user } = open()
  await user.type(nameField(), 'tools')
  await user.type(editor(), 'FROM a{Enter}BAD')
  respond = () =>
    Response.json({ code: 'invalid_argument', field: 'dockerfile', message: 'line 2: unknown BAD' }, { status: 400 })
  await user.click(screen.getByRole('button', { name: 'Create blueprint' }))
  expect((await screen.findByRole('alert')).textContent).toBe('line 2: unknown BAD')
  expect(document.activeElement).toBe(editor())
  expect(screen.getByText('2').className).toContain('text-danger')
  expect([nameField().value, editor().value]).toEqual(['tools', 'FROM a\nBAD'])

  respond = () =>
    Response.json({ id: 'bpt_1', name: 'tools', status: 'queued', state: 'created', create_time_ms: 0, parameters: {} })
  await user.click(screen.getByRole('button', { name: 'Create blueprint' }))
  await vi.waitFor(() => expect(push).toHaveBeenCalledWith('/blueprints/bpt_1/log'))
})

it('previews the Dockerfile until the form changes', async () => {
  const { user } = open()
  await user.type(nameField(), 'tools')
  respond = (url) => (url.endsWith('/preview') ? Response.json({ dockerfile: 'FROM previewed' }) : Response.error())
  await user.click(screen.getByRole('button', { name: 'Preview resulting Dockerfile' }))
  expect(await screen.findByText('FROM previewed')).toBeTruthy()
  await user.type(nameField(), '2')
  expect(screen.queryByText('FROM previewed')).toBeNull()
})

it('indents with Tab until Escape, which does not close the dialog', async () => {
  const { onOpenChange, user } = open()
  await user.click(editor())
  await user.keyboard('RUN{Tab}x')
  expect(editor().value).toBe('RUN    x')
  await user.keyboard('{Escape}{Tab}')
  expect(editor().value).toBe('RUN    x')
  expect(document.activeElement).not.toBe(editor())
  expect(onOpenChange).not.toHaveBeenCalled()
})
