ALTER TABLE "ahs"."own_call" ALTER COLUMN "value" DROP NOT NULL;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "ahs"."call_line"("call" "ahs"."own_call") RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
	SELECT concat_ws(' ', call.hash, call.block, call.transaction_index, call."position", call."timestamp", coalesce(call."to", '-'),
		coalesce(call.selector, '-'), coalesce(call.value::text, '-'), call.ok::int, call.gas_limit, call.gas_used,
		call.fee_wei + coalesce(call.l1_fee_wei, 0), call.gas_price_wei, coalesce(call.recipient, '-'), coalesce(call.amount::text, '-'),
		CASE WHEN call.effect IS NULL THEN '- - - -' ELSE concat_ws(' ', coalesce(call.market_price_wei::text, '-'), call.effect,
			coalesce(nullif(array_to_string(call.emitters, ','), ''), '-'), coalesce(nullif(array_to_string(call.moves, ','), ''), '-'))
		END)
$$;
