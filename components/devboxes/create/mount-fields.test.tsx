// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { FormProvider, useForm } from 'react-hook-form'
import { afterEach, expect, it, vi } from 'vitest'
import { type DevboxFormValues, emptyValues } from './form-schema.ts'
import { MountFields } from './mount-fields.tsx'

let values: () => DevboxFormValues
const Form = () => {
  const form = useForm<DevboxFormValues>({ defaultValues: emptyValues })
  values = form.getValues
  return (
    <FormProvider {...form}>
      <MountFields />
    </FormProvider>
  )
}

const open = (answers: Record<string, unknown>) => {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (url: string) => {
    const [path = ''] = url.split('?')
    asked.push(path)
    const body = answers[path]
    return body ? Response.json(body) : Response.json({ code: 'not_implemented', message: 'none' }, { status: 501 })
  })
  const client = new QueryClient()
  render(
    <QueryClientProvider client={client}>
      <Form />
    </QueryClientProvider>,
  )
  return { client, asked }
}
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('mounts what the service lists', async () => {
  const uploaded = { content_type: 'tgz', create_time_ms: 0 }
  open({
    '/api/v1/objects': {
      objects: [
        { id: 'obj_1', name: 'data.tgz', state: 'READ_ONLY', ...uploaded },
        { id: 'obj_2', name: 'half.tgz', state: 'UPLOADING', ...uploaded },
      ],
      has_more: false,
    },
  })
  const user = userEvent.setup()
  await user.click(await screen.findByText('Objects and agents'))
  expect(screen.queryByRole('button', { name: 'Add agent' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Add object' }))
  const select = screen.getByRole('combobox', { name: 'Object of mount 1' })
  expect([...select.querySelectorAll('option')].map(({ text }) => text)).toEqual(['Select an object', 'data.tgz'])
  await user.selectOptions(select, 'data.tgz')
  await user.type(screen.getByRole('textbox', { name: 'Path of mount 1' }), '~/data')
  expect(values().mounts).toEqual([{ type: 'object_mount', id: 'obj_1', path: '~/data' }])
})

it('offers nothing if the service has neither', async () => {
  const { client, asked } = open({})
  await waitFor(() => expect(asked.sort()).toEqual(['/api/v1/agents', '/api/v1/objects']))
  await waitFor(() => expect(client.isFetching()).toBe(0))
  expect(screen.queryByText('Objects and agents')).toBeNull()
})
