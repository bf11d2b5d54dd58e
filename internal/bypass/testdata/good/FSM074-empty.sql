-- nothing here
;;
