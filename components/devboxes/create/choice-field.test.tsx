// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { ChoiceField } from './choice-field.tsx'
import { choiceQueries } from './choice-queries.ts'

let picked = ''
const Policy = ({ initial = '' }) => {
  const [value, setValue] = useState(initial)
  picked = value
  return (
    <ChoiceField
      label="Network policy"
      query={choiceQueries.networkPolicies}
      value={value}
      onPick={setValue}
      empty="None"
    />
  )
}

const open = (answer: (search: string | null) => Response, initial?: string) => {
  vi.stubGlobal('fetch', async (url: string) => answer(new URLSearchParams(url.split('?')[1]).get('search')))
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Policy initial={initial} />
    </QueryClientProvider>,
  )
  return userEvent.setup()
}
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const page = (names: string[], has_more: boolean) =>
  Response.json({
    network_policies: names.map((name) => ({
      id: `npl_${name}`,
      name,
      create_time_ms: 0,
      update_time_ms: 0,
      egress: {},
    })),
    has_more,
  })
const suggested = () => [...document.querySelectorAll('datalist option')].map(({ textContent }) => textContent)

it('lists all records if they fit a page, and keeps one that is not listed', async () => {
  const user = open(() => page(['open', 'closed'], false), 'npl_other')
  const select = await screen.findByRole('combobox', { name: 'Network policy' })
  await screen.findByRole('option', { name: 'closed' })
  expect([...select.querySelectorAll('option')].map(({ text }) => text)).toEqual([
    'None',
    'npl_other',
    'open',
    'closed',
  ])
  await user.selectOptions(select, 'closed')
  expect(picked).toBe('npl_closed')
})

it('searches as one types if there are more', async () => {
  const user = open((search) => page(search ? ['web-1', 'db'] : ['a', 'b'], search === null))
  await waitFor(() => expect(suggested()).toEqual(['a', 'b']))
  await user.type(screen.getByLabelText('Network policy'), 'web')
  // The service may ignore the search.
  await waitFor(() => expect(suggested()).toEqual(['web-1']))
})

it('takes an ID if the service cannot list records', async () => {
  const user = open(() => Response.json({ code: 'not_implemented', message: 'none' }, { status: 501 }))
  await screen.findByText(/Enter an ID/)
  await user.type(screen.getByRole('textbox', { name: 'Network policy' }), 'npl_9')
  expect(picked).toBe('npl_9')
})
