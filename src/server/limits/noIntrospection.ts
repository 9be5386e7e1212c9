import { type ASTVisitor, GraphQLError, type ValidationContext } from "graphql";

/** A validation rule for servers that do not show their schema. Apollo's own rule explains how to configure Apollo, which a client cannot. */
export function noIntrospection(context: ValidationContext): ASTVisitor {
	return {
		Field(node) {
			const { value } = node.name;
			if (value !== "__schema" && value !== "__type") return;
			context.reportError(
				new GraphQLError(
					`This server does not show its schema: ${value} is for its operators only.`,
					{ nodes: [node] },
				),
			);
		},
	};
}
