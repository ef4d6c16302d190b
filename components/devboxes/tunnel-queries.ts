import { mutationOptions, type QueryClient } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { devboxKeys } from '#lib/browser/queries/devbox-keys.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Tunnel, TunnelOptions } from '#lib/contract/tunnels.ts'
import { tunnels } from '#lib/contract/tunnels.ts'

const pageApi = browserApi({ tunnels })

/** Each puts the tunnel, or that there is none, in the cached devbox. */
export const tunnelMutations = {
  enable: () =>
    mutationOptions({
      mutationKey: ['tunnels', 'enable'],
      mutationFn: ({ id, auth_mode }: { id: string; auth_mode: NonNullable<TunnelOptions['auth_mode']> }) =>
        pageApi.tunnels.enable({ params: { id }, body: { auth_mode } }),
      onSuccess: (tunnel, { id }, _result, { client }) => remember(client, id, tunnel),
      // Somebody else may have made one meanwhile.
      onError: (_error, { id }, _result, { client }) => void client.invalidateQueries({ queryKey: devboxKeys.one(id) }),
    }),

  remove: () =>
    mutationOptions({
      mutationKey: ['tunnels', 'remove'],
      mutationFn: (id: string) => pageApi.tunnels.remove({ params: { id } }),
      onSuccess: (_answer, id, _result, { client }) => remember(client, id, null),
    }),
}

const remember = (client: QueryClient, id: string, tunnel: Tunnel | null) =>
  client.setQueryData<Devbox>(devboxKeys.one(id), (devbox) => devbox && { ...devbox, tunnel })
