UPDATE ORDERS SET STATUS = 1;
UPDATE public.orders SET "status" = 1;
UPDATE "orders" SET Status = 1;
UPDATE ONLY orders SET status = 1;
UPDATE orders * SET status = 1;
UPDATE U&"\006Frders" SET U&"\0073tatus" = 1;
UPDATE/**/orders/* SET x */SET/**/status=1;
