'use client'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { supportQueries } from '#components/settings/support-queries.ts'
import { type RefusalOf, Refusals } from '#components/ui/refusals.ts'
import { leastRoleFor, type Operation, type Role, roleRefusal } from '#lib/protocol/roles.ts'
import type { ServiceSupport } from '#lib/protocol/support.ts'
import { sessionQueries } from './session-queries.ts'

interface Rules {
  support: Pick<ServiceSupport, 'operations'> | undefined
  role: Role | undefined
}

/** The service's reason comes before the role's: if the service lacks the operation, another role wouldn't help. */
export const operationRefusal = (operation: Operation, { support, role }: Rules): string | null => {
  if (support?.operations[operation] === 'no') return "This service doesn't offer this operation"
  return role === undefined ? null : roleRefusal(role, leastRoleFor(operation))
}

/** Disables controls that need an operation the service lacks or the person's role doesn't allow. */
export const OperationRefusals = ({ children }: { children: ReactNode }) => {
  const { data: session } = useQuery({ ...sessionQueries.get(), enabled: false })
  const { data: support } = useQuery({ ...supportQueries.current(), enabled: false })
  const role = session?.role
  const refusalOf = useMemo(
    (): RefusalOf => (operation) => operationRefusal(operation, { support, role }),
    [support, role],
  )
  return <Refusals value={refusalOf}>{children}</Refusals>
}
