import { BlueprintDetail } from '#components/blueprints/detail.tsx'
import { blueprintQueries } from '#components/blueprints/queries.ts'
import { detailPage } from '../../read-page.tsx'

const blueprint = detailPage('Blueprint', BlueprintDetail, blueprintQueries.get, (api, id) =>
  api.blueprints.get({ params: { id } }),
)

export const generateMetadata = blueprint.title
export default blueprint.page
