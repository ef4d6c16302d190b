import { inputOffsetHeader, outputOffsetHeader, shellIdHeader, terminals } from '#lib/contract/terminals.ts'
import type { Size } from '#lib/service/engine/box.ts'
import { type Caller, implement } from '#lib/service/http/implement.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { Deps } from '#lib/service/parts.ts'
import type { SessionKey } from '#lib/service/terminals/shell.ts'
import { grantOf } from '#lib/service/terminals/tokens.ts'

export const terminalRoutes = ({ store, devboxes, terminals: runtime, ptyTokens }: Deps) => {
  // Unspecified: with an API key, the session name starts with the devbox ID; a token is for one devbox.
  const keyOf = async ({ account, scope }: Pick<Caller, 'account' | 'scope'>, name: string) => {
    const devboxId = scope ?? store.devboxes.longestIdPrefix(account, name)
    if (devboxId !== undefined) {
      await devboxes.adopted(devboxId)
      return { account, devboxId, name }
    }
    throw new ServiceError(
      'invalid_argument',
      'session_name: must start with a devbox ID (dbx_…-name), unless you use a token of create_pty_tunnel',
      { field: 'session_name', shouldRetry: false },
    )
  }

  const open = (key: SessionKey, size: Size | undefined) =>
    runtime.open(key, devboxes.running(key.account, key.devboxId, 'open_terminal'), size)

  return implement(terminals, {
    connect: async ({ params: { session_name }, query, ...caller }) => {
      const key = await keyOf(caller, session_name)
      const { shell, created } = open(key, query.size)
      const ticket = ptyTokens.issue(grantOf(caller, key.devboxId), session_name)
      return shell.view(created, `/pty/${session_name}/attach?ticket=${ticket}`)
    },
    control: async ({ params: { session_name }, body, ...caller }) => {
      const shell = runtime.find(await keyOf(caller, session_name)) ?? notFound('terminal session', session_name)
      if (body.action === 'resize') shell.resize(body)
      else if (body.action === 'close') shell.close()
      else if (!(await shell.signal(body.signal)))
        throw new ServiceError('invalid_argument', 'The terminal has no foreground process group', {
          shouldRetry: false,
        })
      return { session_name, status: body.action === 'close' ? 'closed' : 'ready' }
    },
    attach: async ({ params: { session_name }, query, setHeader, ...caller }) => {
      const key = await keyOf(caller, session_name)
      const { shell: before } = open(key, query.size)
      // Unspecified: 409 for a second client.
      if (!(await before.isFree()))
        throw new ServiceError('conflict', `Terminal session ${session_name} already has a client`)
      const { shell } = open(key, query.size)
      const offset = shell.offsetFor(query.after)
      setHeader(outputOffsetHeader, String(offset))
      setHeader(shellIdHeader, shell.id)
      setHeader(inputOffsetHeader, String(shell.inputBytes))
      return (client) => shell.attach(client, offset, query.size)
    },
  })
}
