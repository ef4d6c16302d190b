import type { HeldTerminal } from '#lib/wire/terminals.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import { answering, json, Refusal } from '../http/answer.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { registry } from '../registry.ts'
import type { TerminalSession } from './shared-terminal.ts'

/** No id holds a space. */
export const keyOf = (accountId: string, devboxId: string, name: string): string => `${accountId} ${devboxId} ${name}`

export const terminalsOf = (accountId: string): TerminalSession[] =>
  [...registry().terminals.values()].filter((session) => session.accountId === accountId)

/** `GET /api/terminals/{devbox_id}`: the terminals of a devbox that the console holds open for the account. */
export const listTerminals = (request: Request, devboxId: string): Promise<Response> =>
  answering(request, async () => {
    const { account } = await callerOf(request, 'read')
    const held: HeldTerminal[] = terminalsOf(account.id)
      .filter((session) => session.devboxId === devboxId)
      .map((session) => session.held)
    return json({ terminals: held })
  })

/** `DELETE /api/terminals/{devbox_id}/{name}`: ends the shell. */
export const closeTerminal = (request: Request, devboxId: string, name: string): Promise<Response> =>
  answering(request, async () => {
    const { account } = await callerOf(request, 'write')
    const session = registry().terminals.get(keyOf(account.id, devboxId, name))
    if (!session) throw new Refusal('not_found', `The console holds no terminal ${name} of ${devboxId} open`)
    if (!(await session.close())) throw new Refusal('unavailable', 'The service could not be told to end the shell')
    return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
  })

const callerOf = (request: Request, kind: 'read' | 'write') => {
  const header = (name: string) => request.headers.get(name)
  requireSameOrigin(header, kind)
  return requireSignedIn(header)
}
