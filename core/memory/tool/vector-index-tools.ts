import type { Tool } from "../../domain/tool.ts";
import { METRICS, type Metric } from "../worker/nearest-vectors.ts";
import { answer, numberArg, textArg } from "./tool-answer.ts";
import { DIMENSION_LIMIT } from "./vector-index.ts";
import type { VectorIndices } from "./vector-indices.ts";
import {
  COUNT,
  INDEX_NAME,
  LABEL,
  METADATA,
  metadataArg,
  orFail,
  readMetadata,
  VECTOR,
  vectorArg,
  vectorTool,
} from "./vector-tool.ts";

const DEFAULT_ELEMENTS = 10_000;

/** Indices of bare vectors. */
export function vectorIndexTools(indices: VectorIndices): readonly Tool[] {
  return [...indexTools(indices), ...elementTools(indices), getTool(indices), searchTool(indices)];
}

function indexTools(indices: VectorIndices): readonly Tool[] {
  return [
    vectorTool({
      name: "vector_db_create_index",
      description:
        "Make a named index of vectors. Distances: l2 is the squared Euclidean one, cosine 1 - cosine, ip 1 - inner product. Search is exact; M and ef_construction are taken for compatibility and change nothing.",
      access: "write",
      properties: {
        index_name: INDEX_NAME,
        dimension: { type: "integer", minimum: 1, maximum: DIMENSION_LIMIT, description: "Numbers in each vector." },
        max_elements: { ...COUNT, description: `${DEFAULT_ELEMENTS} by default.` },
        M: { type: "integer", minimum: 1 },
        ef_construction: { type: "integer", minimum: 1 },
        metric: { type: "string", enum: [...METRICS], description: "l2 by default." },
      },
      required: ["index_name", "dimension"],
      async run(args) {
        const name = textArg(args, "index_name");
        const dimension = numberArg(args, "dimension", 0);
        const maxElements = numberArg(args, "max_elements", DEFAULT_ELEMENTS);
        const metric = (textArg(args, "metric") || "l2") as Metric;
        return orFail(await indices.create({ name, dimension, maxElements, metric }), () =>
          answer({
            success: true,
            message: `Created index ${name} for ${maxElements} vectors of ${dimension} numbers (${metric})`,
          }),
        );
      },
    }),
    vectorTool({
      name: "vector_db_delete_index",
      description: "Delete a named index of vectors with everything in it.",
      access: "write",
      properties: { index_name: INDEX_NAME },
      required: ["index_name"],
      async run(args) {
        const name = textArg(args, "index_name");
        return orFail(await indices.remove(name), () => answer({ success: true, message: `Deleted index ${name}` }));
      },
    }),
    vectorTool({
      name: "vector_db_list_indices",
      description: "List the named indices of vectors.",
      access: "read",
      aliases: ["vector_db_list_indexes", "vector_db_list"],
      properties: {},
      required: [],
      run: async () => orFail(await indices.list(), (shapes) => answer({ indices: shapes.map(({ name }) => name) })),
    }),
  ];
}

function elementTools(indices: VectorIndices): readonly Tool[] {
  return [
    vectorTool({
      name: "vector_db_add_vector",
      description: "Put a vector into an index. Gives its label, which is never given again.",
      access: "write",
      properties: { index_name: INDEX_NAME, vector: VECTOR, metadata: METADATA },
      required: ["index_name", "vector"],
      async run(args) {
        const draft = { vector: vectorArg(args, "vector"), metadata: metadataArg(args), ...BARE };
        const added = await indices.add(textArg(args, "index_name"), [draft]);
        return orFail(added, ([label = 0]) => answer({ success: true, label }));
      },
    }),
    vectorTool({
      name: "vector_db_update_vector",
      description: "Put another vector in the place of one, and other metadata when it is given.",
      access: "write",
      properties: { index_name: INDEX_NAME, label: LABEL, vector: VECTOR, metadata: METADATA },
      required: ["index_name", "label", "vector"],
      async run(args) {
        const label = numberArg(args, "label", 0);
        // The text, if any, is no longer what the vector says.
        const change = {
          vector: vectorArg(args, "vector"),
          ...BARE,
          ...(args.metadata === undefined ? {} : { metadata: metadataArg(args) }),
        };
        return orFail(await indices.update(textArg(args, "index_name"), label, change), () =>
          answer({ success: true, label, message: `Updated label ${label}` }),
        );
      },
    }),
    vectorTool({
      name: "vector_db_delete_vector",
      description: "Take one element out of an index.",
      access: "write",
      properties: { index_name: INDEX_NAME, label: LABEL },
      required: ["index_name", "label"],
      async run(args) {
        const label = numberArg(args, "label", 0);
        return orFail(await indices.removeElement(textArg(args, "index_name"), label), () =>
          answer({ success: true, label, message: `Deleted label ${label}` }),
        );
      },
    }),
  ];
}

const BARE = { text: "", type: "vector", source: "", embedder: "" } as const;

function getTool(indices: VectorIndices): Tool {
  return vectorTool({
    name: "vector_db_get_vector",
    description: "Show one element of an index: its numbers and metadata.",
    access: "read",
    properties: { index_name: INDEX_NAME, label: LABEL },
    required: ["index_name", "label"],
    async run(args) {
      const got = await indices.get(textArg(args, "index_name"), numberArg(args, "label", 0));
      return orFail(got, ({ element, vector }) =>
        answer({
          label: element.label,
          vector: [...vector],
          metadata: readMetadata(element.metadata),
          ...(element.text === "" ? {} : { text: element.text }),
        }),
      );
    },
  });
}

function searchTool(indices: VectorIndices): Tool {
  return vectorTool({
    name: "vector_db_search",
    description: "Find the elements of an index nearest to a vector, nearest first.",
    access: "read",
    aliases: ["vector_db_query", "vector_db_search_vector", "vector_db_search_vectors"],
    properties: {
      index_name: INDEX_NAME,
      query_vector: VECTOR,
      k: { ...COUNT, description: "Most elements." },
    },
    required: ["index_name", "query_vector", "k"],
    async run(args, { signal }) {
      const query = { vector: vectorArg(args, "query_vector"), embedder: "", limit: numberArg(args, "k", 1) };
      const found = await indices.search(textArg(args, "index_name"), query, signal);
      return orFail(found, (elements) =>
        answer(
          elements.map(({ label, distance, metadata }) => ({
            label,
            distance,
            ...(metadata === "" ? {} : { metadata: readMetadata(metadata) }),
          })),
        ),
      );
    },
  });
}
