import {
	type GraphQLSchema,
	isInterfaceType,
	isIntrospectionType,
	isObjectType,
} from "graphql";

interface OutputField {
	/** `Type.field` */
	readonly coordinate: string;
	/** Fields of interfaces that it is selected by too. */
	readonly ofInterfaces: readonly string[];
	readonly isDeprecated: boolean;
}

/** The fields that clients may select, in the order of their types' names. */
export function outputFields(schema: GraphQLSchema): readonly OutputField[] {
	return Object.values(schema.getTypeMap())
		.filter((type) => isObjectType(type) || isInterfaceType(type))
		.filter((type) => !isIntrospectionType(type))
		.toSorted((a, b) => (a.name < b.name ? -1 : 1))
		.flatMap((type) =>
			Object.values(type.getFields()).map((field) => ({
				coordinate: `${type.name}.${field.name}`,
				ofInterfaces: type
					.getInterfaces()
					.filter((each) => Object.hasOwn(each.getFields(), field.name))
					.map((each) => `${each.name}.${field.name}`),
				isDeprecated: field.deprecationReason != null,
			})),
		);
}
