import { handleCluster } from '#lib/gateway/cluster/routes.ts'

export const GET = (request: Request) => handleCluster(request)
export const POST = (request: Request) => handleCluster(request)
