import { mutationOptions, type QueryClient } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { type Tunnel, type TunnelOptions, tunnels } from '#lib/contract/tunnels.ts'
import { devboxKeys } from './query-keys.ts'

const pageApi = browserApi({ tunnels })

export const tunnelMutations = {
  enable: () =>
    mutationOptions({
      mutationKey: ['tunnels', 'enable'],
      mutationFn: ({ id, auth_mode }: { id: string; auth_mode: NonNullable<TunnelOptions['auth_mode']> }) =>
        pageApi.tunnels.enable({ params: { id }, body: { auth_mode } }),
      onSuccess: (tunnel, { id }, _context, { client }) => cacheTunnel(client, id, tunnel),
      // Someone else may have created one.
      onError: (_error, { id }, _context, { client }) =>
        void client.invalidateQueries({ queryKey: devboxKeys.one(id) }),
    }),

  remove: () =>
    mutationOptions({
      mutationKey: ['tunnels', 'remove'],
      mutationFn: (id: string) => pageApi.tunnels.remove({ params: { id } }),
      onSuccess: (_result, id, _context, { client }) => cacheTunnel(client, id, null),
    }),
}

const cacheTunnel = (client: QueryClient, id: string, tunnel: Tunnel | null) =>
  client.setQueryData<Devbox>(devboxKeys.one(id), (devbox) => devbox && { ...devbox, tunnel })
