import type { HeldTerminal } from '#lib/protocol/terminals.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { type Actor, actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { type OpenTerminal, terminals } from './registry.ts'

/** Ids never contain spaces, so keys are unambiguous. */
export const keyOf = (accountId: string, devboxId: string, name: string): string => `${accountId} ${devboxId} ${name}`

export const terminalsOf = (accountId: string): OpenTerminal[] =>
  [...terminals().values()].filter((terminal) => terminal.accountId === accountId)

/** `GET /api/terminals/{devbox_id}`: the account's open terminals of a devbox. */
export const listTerminals = (request: Request, devboxId: string): Promise<Response> =>
  handleRequest(request, async () => {
    const { account } = await requireCaller(request, 'read')
    const terminals: HeldTerminal[] = terminalsOf(account.id)
      .filter((terminal) => terminal.devboxId === devboxId)
      .map(({ held }) => held)
    return json({ terminals })
  })

/** `DELETE /api/terminals/{devbox_id}/{name}`: ends the shell. */
export const closeTerminal = (request: Request, devboxId: string, name: string): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'write')
    const terminal = terminals().get(keyOf(session.account.id, devboxId, name))
    if (!terminal) throw new HttpError('not_found', `No open terminal ${name} of ${devboxId}`)
    return endShell(
      terminal,
      actorOf(session, (header) => request.headers.get(header)),
    )
  })

export const endShell = (terminal: OpenTerminal, actor: Actor): Promise<Response> =>
  withActivityRecord(
    actor,
    { operation: 'terminals.end', subject: `${terminal.devboxId}/${terminal.held.name}` },
    async () => {
      if (!(await terminal.close()))
        throw new HttpError('unavailable', 'The service could not be reached to end the shell')
      return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
    },
  )
